import { describe, expect, it } from "vitest";
import { PieceTokenizer, type Vocabulary } from "../../local/engine/pieces.ts";

const reserved: Vocabulary = ["<unk>", "<s>", "</s>", "x", "x", "x"].map((piece) => [piece, 0]);
const tokenizer = new PieceTokenizer([
  ...reserved,
  ["▁", -2],
  ["▁a", -3],
  ["▁ab", -4],
  ["b", -3],
  ["c", -5],
  ["bc", -4],
]);

describe("a piece tokenizer", () => {
  it("takes the most probable pieces, not the longest", () => {
    expect(tokenizer.encode("abc")).toEqual([7, 11]);
    expect(tokenizer.encode("ab")).toEqual([8]);
  });

  it("marks what it doesn't know once for a run", () => {
    expect(tokenizer.encode("b🦊🦊c")).toEqual([6, 9, 0, 10]);
  });

  it("takes every kind of space as one, and nothing as a space", () => {
    expect(tokenizer.encode(" a \n\t b ")).toEqual([7, 6, 9]);
    expect(tokenizer.encode("")).toEqual([6]);
  });
});
