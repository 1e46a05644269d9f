import { expect, it } from "vitest";
import { selectCaptions } from "../../src/ingest/steps/fetch.ts";

const captions = (...languages: (string | null)[]) =>
  languages.map((language) => ({
    url: `https://a.example/${language}`,
    language,
    format: "vtt" as const,
  }));

it.each<[string | null, (string | null)[], string | null | undefined]>([
  ["en", ["de", "en-GB"], "en-GB"],
  ["en-US", ["EN"], "EN"],
  ["en", ["de"], undefined],
  ["fr", ["en", "de"], undefined],
  ["en", ["de", null], null],
  ["en", [null], null],
  [null, ["de"], "de"],
  [null, ["de", "de-AT"], "de"],
  [null, ["de", "en"], undefined],
  [null, [null], null],
  [null, ["de", null], null],
  ["en", [], undefined],
])("the captions of speech in %j are, of those in %j, the ones in %j", (spoken, all, expected) => {
  expect(selectCaptions(captions(...all), spoken)?.language).toBe(expected);
});
