import { describe, expect, it } from "vitest";
import { UnigramTokenizer, type Vocabulary } from "../../local/engine/sentencepiece.ts";

const reserved: Vocabulary = ["<unk>", "<s>", "</s>", "x", "x", "x"].map((piece) => [piece, 0]);
const tokenizer = new UnigramTokenizer([
  ...reserved,
  ["▁", -2],
  ["▁a", -3],
  ["▁ab", -4],
  ["b", -3],
  ["c", -5],
  ["bc", -4],
]);

describe("the unigram tokenizer", () => {
  it("chooses the most probable pieces, not the longest", () => {
    expect(tokenizer.encode("abc")).toEqual([7, 11]);
    expect(tokenizer.encode("ab")).toEqual([8]);
  });

  it("encodes a run of unknown characters as one token", () => {
    expect(tokenizer.encode("b🦊🦊c")).toEqual([6, 9, 0, 10]);
  });

  it("collapses white space and encodes an empty text as a space", () => {
    expect(tokenizer.encode(" a \n\t b ")).toEqual([7, 6, 9]);
    expect(tokenizer.encode("")).toEqual([6]);
  });
});
