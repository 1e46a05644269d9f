import { expect, it } from "vitest";
import { neighbourSentences, splitSentences } from "../../../src/text/sentences.ts";

const MANY = Array.from({ length: 60 }, (_, i) => `word${i}`).join(" ");

it.each<[string, [string, string, string], [string, string]]>([
  [
    "a sentence that both neighbours share",
    ["It rained. The keeper", "lit the lamp and", "rowed out. Then he slept."],
    ["The keeper", "rowed out."],
  ],
  ["a sentence that is over", ["It rained.", "He slept.", "It was day."], ["It rained.", ""]],
  ["a quotation", ["Why? He said “why?”", "Nobody did…", "at all"], ["He said “why?”", ""]],
  ["Japanese sentences", ["雨が降った。灯台", "守が来た。", "寝た。"], ["灯台", ""]],
  ["no neighbours", ["", "lit the lamp and", ""], ["", ""]],
  ["silence between two that speak", ["The keeper", "", "rowed out."], ["", ""]],
])("%s: what the neighbours say of it is returned", (_, [before, text, after], expected) => {
  expect(Object.values(neighbourSentences(before, text, after))).toEqual(expected);
});

it("speech without full stops is completed by whole words of 160 characters at most", () => {
  const { speechBefore, speechAfter } = neighbourSentences(MANY, "and", MANY);
  expect(MANY.endsWith(` ${speechBefore}`)).toBe(true);
  expect(MANY.startsWith(`${speechAfter} `)).toBe(true);
  expect(speechBefore.length + speechAfter.length).toBeGreaterThan(280);
  expect(Math.max(speechBefore.length, speechAfter.length)).toBeLessThanOrEqual(160);
});

it.each([
  ["Won by Toni Aigner. 1912 new club house.", ["Won by Toni Aigner.", "1912 new club house."]],
  ["It fell. – nobody saw it.", ["It fell.", "– nobody saw it."]],
  ["See Vol. 3 of it.", ["See Vol. 3 of it."]],
  ["Er kam am 9. August 1911 an. Sie ging.", ["Er kam am 9. August 1911 an.", "Sie ging."]],
  ["Samstag, 14. Mai 1962, 19 Uhr.", ["Samstag, 14. Mai 1962, 19 Uhr."]],
  ["Es war der 2. Weltkrieg.", ["Es war der 2. Weltkrieg."]],
  ["He came in row 9. They left.", ["He came in row 9.", "They left."]],
])("%j has the sentences %j", (text, sentences) => {
  expect(splitSentences(text)).toEqual(sentences);
});
