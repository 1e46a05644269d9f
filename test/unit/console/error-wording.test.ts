import { expect, it } from "vitest";

interface Issue {
  loc: (string | number)[];
  msg: string;
}

/** The function under test; the console is plain JavaScript without types. */
interface ErrorWording {
  formatDetail: (detail: string | Issue[] | undefined) => string | undefined;
}

const file = new URL("../../../console/console/shared/error-wording.js", import.meta.url).href;
const { formatDetail } = (await import(file)) as ErrorWording;

it.each<[string, Issue, string]>([
  [
    "a sentence of the service",
    { loc: ["body", "settings", "webhook_url"], msg: "Give an https URL" },
    "Give an https URL.",
  ],
  [
    "a sentence with its full stop",
    { loc: ["body", "video_file"], msg: "The file can't be read: send a video." },
    "The file can't be read: send a video.",
  ],
  [
    "a message about a field that it doesn't name",
    { loc: ["body", "top_k"], msg: "Input should be less than or equal to 500" },
    "Top k: input should be less than or equal to 500.",
  ],
  [
    "a message about an item of a list",
    { loc: ["body", "asset_ids", 2], msg: "Input should be a valid string" },
    "Asset ids: input should be a valid string.",
  ],
  [
    "a message about the whole body",
    { loc: ["body", 12], msg: "JSON decode error at byte 12" },
    "JSON decode error at byte 12.",
  ],
])("Validation errors are shown without paths and prefixes: %s", (_, issue, text) => {
  expect(formatDetail([issue])).toBe(text);
});

it("Several validation errors are shown as sentences, each once", () => {
  const issue = (name: string, msg: string) => ({
    loc: ["body", name],
    msg,
  });
  const issues = [issue("a", "Give one."), issue("b", "Give one."), issue("c", "Give two")];
  expect(formatDetail(issues)).toBe("Give one. Give two.");
});

it("A detail that is a sentence stays as it is", () => {
  expect(formatDetail("There is no index.")).toBe("There is no index.");
  expect(formatDetail(undefined)).toBeUndefined();
});
