import { expect, it } from "vitest";
import { measureWords } from "../../bench/word-recall.ts";

it.each([
  ["all", "Two dogs run.", "two DOGS run", 100, 100],
  ["a part", "two dogs run far", "two dogs", 50, 100],
  ["too much", "two dogs", "two dogs bark loudly", 100, 50],
  ["a word twice that is there once", "dog", "dog dog", 100, 50],
  ["a word once that is there twice", "dog dog", "dog", 50, 100],
  ["nothing", "dog", "", 0, 100],
  ["what isn't there", "", "dog", 100, 0],
  ["the dog's apostrophe", "the dog's", "the dog’s", 50, 50],
])("reading %s", (_, truth, read, recall, precision) => {
  expect(measureWords([{ truth, read }])).toMatchObject({ recall, precision });
});

it("counts words, not pages", () => {
  const pages = [
    { truth: "one two three", read: "one two three" },
    { truth: "four", read: "for" },
  ];
  expect(measureWords(pages)).toEqual({ recall: 75, precision: 75, words: 4 });
});
