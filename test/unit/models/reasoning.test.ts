import { describe, expect, it } from "vitest";
import { ReasoningFilter } from "../../../src/models/generate.ts";

function filterChunks(chunks: string[]): string {
  const filter = new ReasoningFilter();
  return chunks.map((chunk) => filter.remove(chunk)).join("") + filter.end();
}

const CASES: [name: string, text: string, visible: string][] = [
  ["an empty text", "", ""],
  ["a text without reasoning", "A dog [1].", "A dog [1]."],
  ["reasoning before the text", "<think>Hm.\nA dog?</think>\n\nA dog.", "A dog."],
  ["reasoning inside the text", "A <think>cat?</think>dog.", "A dog."],
  ["reasoning in several places", "<think>a</think>b<think>c</think>d", "bd"],
  ["reasoning that is never closed", "A dog. <think>Or is it", "A dog. "],
  ["Gemma's empty reasoning", "<|channel>thought\n<channel|>A dog.", "A dog."],
  ["Gemma's reasoning", "<|channel>thought\na < b <think><channel|>A dog.", "A dog."],
  ["another model's delimiter in reasoning", "<think><|channel></think>A dog.", "A dog."],
  ["a start delimiter in reasoning", "<think><think></think>A dog.", "A dog."],
  ["prefixes of delimiters", "1 <2, <thin, <|chan", "1 <2, <thin, <|chan"],
  ["a prefix of a delimiter before a delimiter", "<<think>a</think><", "<<"],
  ["leading white space", " \n A dog. ", "A dog. "],
  ["white space only", " \n ", ""],
];

describe("the reasoning filter", () => {
  it.each(CASES)("removes reasoning from %s", (_, text, visible) => {
    expect(filterChunks([text])).toBe(visible);
  });

  it.each(CASES)("gives the same result for any chunks of %s", (_, text, visible) => {
    expect(filterChunks(text.split(""))).toBe(visible);
    for (let at = 0; at <= text.length; at += 1) {
      for (let to = at; to <= text.length; to += 1) {
        const chunks = [text.slice(0, at), text.slice(at, to), text.slice(to)];
        expect(filterChunks(chunks)).toBe(visible);
      }
    }
  });

  it("withholds only what may be the start of a delimiter", () => {
    const filter = new ReasoningFilter();
    const chunks = ["A d", "og <", "t", "able", " <think>", "x</think", "> end"];
    const visible = chunks.map((chunk) => filter.remove(chunk));
    expect(visible).toEqual(["A d", "og ", "", "<table", " ", "", " end"]);
  });
});
