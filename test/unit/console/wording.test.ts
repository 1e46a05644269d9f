import { expect, it } from "vitest";

/** The functions under test; the console is plain JavaScript without types. */
interface Wording {
  breadthOf: (topP: number) => string;
  certaintyOf: (score: number) => string;
  authorOf: (model: string) => string;
  calibrationNote: (calibration: string) => string;
  likelihoodOf: (score: number) => string;
  percent: (share: number) => string;
  shortenMiddle: (title: string) => string;
}

const file = new URL("../../../console/console/shared/wording.js", import.meta.url).href;
const { authorOf, breadthOf, calibrationNote, certaintyOf, likelihoodOf, percent, shortenMiddle } =
  (await import(file)) as Wording;

it("Scores that other models were calibrated for are explained, and the usual ones aren't", () => {
  expect(calibrationNote("borrowed")).toContain("aren't exact");
  expect(calibrationNote("fitted")).toBe("");
});

it.each([
  [1, "Very likely"],
  [0.8, "Very likely"],
  [0.79, "Likely"],
  [0.51, "Likely"],
  [0.5, "Possible"],
  [0.1, "Possible"],
  [0.09, "Unlikely"],
  [0, "Unlikely"],
])("A score of %d is shown as the words %s", (score, words) => {
  expect(likelihoodOf(score)).toBe(words);
});

it("An answer without a model is said to be quoted", () => {
  expect(authorOf("extractive")).toBe(
    "Quoted from your videos and images, without a language model.",
  );
});

it("An answer of a model names it and says that it can be wrong", () => {
  expect(authorOf("@cf/openai/gpt-oss-120b")).toMatch(/model @cf\/openai\/gpt-oss-120b.*wrong/);
});

it.each([
  [0, "0 %"],
  [0.437, "43 %"],
  [0.999, "99 %"],
  [1, "100 %"],
])("A share of %d is shown as %s, 100 %% only if it is all", (share, text) => {
  expect(percent(share)).toBe(text);
});

it.each([
  [0, "Everything"],
  [0.1, "Without unlikely ones (from 10 %)"],
  [0.5, "Likely only (from 50 %)"],
  [0.8, "Very likely only (from 80 %)"],
])("A lowest score of %d is shown as %s", (topP, words) => {
  expect(breadthOf(topP)).toBe(words);
});

it.each([
  [0.8, "certain"],
  [0.79, "fairly certain"],
  [0.5, "fairly certain"],
  [0.49, "uncertain"],
])("A detection with the score %d is shown as %s", (score, words) => {
  expect(certaintyOf(score)).toBe(words);
});

it.each([
  ["Harbour at dawn.mp4", "Harbour at dawn.mp4"],
  [`IMG_${"2".repeat(70)}_take_1.mp4`, `IMG_${"2".repeat(26)}…2222222_take_1.mp4`],
  [`${"山".repeat(40)}.mp4`, `${"山".repeat(15)}…${"山".repeat(7)}.mp4`],
  ["👩‍👩‍👧‍👦".repeat(30), `${"👩‍👩‍👧‍👦".repeat(15)}…${"👩‍👩‍👧‍👦".repeat(9)}`],
])("A title that is long is shortened in its middle: %s", (title, shortened) => {
  expect(shortenMiddle(title)).toBe(shortened);
});
