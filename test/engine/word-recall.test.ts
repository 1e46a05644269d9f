import { expect, it } from "vitest";
import { measureWordRecall } from "../../bench/word-recall.ts";

it.each([
  ["every word", "Two dogs run.", "two DOGS run", 100, 100],
  ["half of the words", "two dogs run far", "two dogs", 50, 100],
  ["words that aren't there", "two dogs", "two dogs bark loudly", 100, 50],
  ["a word twice that is there once", "dog", "dog dog", 100, 50],
  ["a word once that is there twice", "dog dog", "dog", 50, 100],
  ["no word", "dog", "", 0, 100],
  ["a word on an empty page", "", "dog", 100, 0],
  ["a curly apostrophe for a straight one", "the dog's", "the dog’s", 50, 50],
])(
  "recognising %s gives the expected recall and precision",
  (_, expected, recognized, recall, precision) => {
    expect(measureWordRecall([{ expected, recognized }])).toMatchObject({ recall, precision });
  },
);

it("recall and precision of several pages count words, not pages", () => {
  const pages = [
    { expected: "one two three", recognized: "one two three" },
    { expected: "four", recognized: "for" },
  ];
  expect(measureWordRecall(pages)).toEqual({ recall: 75, precision: 75, wordCount: 4 });
});
