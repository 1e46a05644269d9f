import { describe, expect, it } from "vitest";

interface Failure {
  code: string;
  message: string;
}

const load = async (path: string): Promise<unknown> =>
  import(new URL(`../../../console/console/${path}`, import.meta.url).href);

const { plainMessage, isSpeechWarning } = (await load("shared/error-advice.js")) as {
  plainMessage: (failure: Failure) => string;
  isSpeechWarning: (failure: Failure) => boolean;
};
const { foldSpelling } = (await load("search/spelling.js")) as {
  foldSpelling: (text: string) => string;
};
const { keyOf } = (await load("shared/sign-in-link.js")) as { keyOf: (text: string) => string };
const { findFolders } = (await load("search/filter-rules.js")) as {
  findFolders: (text: string, folders: string[]) => string[];
};

const WHISPER = "The model @cf/openai/whisper-tiny-en is not available (5007).";

describe("a failure in plain words", () => {
  it.each<[string, string, RegExp]>([
    [
      "model_not_found",
      `${WHISPER} No speech recogniser: \`npm run models -- pull whisper-base\`, or install Debian's.`,
      /^Speech isn't recognised: this service has no speech recogniser\. .*transcript.*`npm run models -- pull whisper-base`, then repair/,
    ],
    [
      "upstream_timeout",
      "The model @cf/openai/whisper-tiny-en took over 900 ms.",
      /recogniser failed/,
    ],
    [
      "model_not_found",
      "2 of 3 segments can't be described. The model @cf/a-3.1 is not available (5007). Ask.",
      /^2 of 3 segments can't be described\. The service lacks a model for it\. Ask\.$/,
    ],
    ["too_long", "The video is too long.", /^The video is too long\.$/],
  ])("of the code %s with the message %j is %s", (code, message, expected) => {
    const text = plainMessage({ code, message });
    expect(text).toMatch(expected);
    expect(text).not.toMatch(/@cf|5007/);
  });

  it.each([
    [WHISPER, true],
    ["The model @cf/a is not available (5007).", false],
    ["The transcript ends early.", false],
  ])("%j is about speech: %s", (message, expected) => {
    expect(isSpeechWarning({ code: "model_not_found", message })).toBe(expected);
  });
});

it.each([
  ["koeln", "Köln", true],
  ["Koln", "köln", true],
  ["strasse", "Straße", true],
  ["lanten", "lantern", false],
])("%s and %s are spellings of the same words: %s", (a, b, expected) => {
  expect(foldSpelling(a) === foldSpelling(b)).toBe(expected);
});

it.each([
  ["Day 1", ["Trip/Day 1", "Work/Day 1"]],
  ["/trip/day 1/", ["Trip/Day 1"]],
  ["trip", ["Trip/Day 1"]],
  ["Garden", ["Garden"]],
  ["den", []],
  [" ", []],
])("The folder %j means %j", (text, expected) => {
  expect(findFolders(text, ["Trip/Day 1", "Work/Day 1", "Garden", "Old/Garden"])).toEqual(expected);
});

it.each([
  [" sl_abc ", "sl_abc"],
  ["http://127.0.0.1:8787/#key=sl_abc", "sl_abc"],
  ["http://127.0.0.1:8787/#key=sl_abc/holidays?q=boat", "sl_abc"],
  ["#key=sl_abc/holidays", "sl_abc"],
])("The key of the pasted text %j is %j", (text, key) => {
  expect(keyOf(text)).toBe(key);
});
