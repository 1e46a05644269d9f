import { describe, expect, it } from "vitest";
import { Thoughts } from "../../src/models/thoughts.ts";

function removed(pieces: string[]): string {
  const thoughts = new Thoughts();
  return pieces.map((piece) => thoughts.remove(piece)).join("") + thoughts.end();
}

const CASES: [what: string, text: string, spoken: string][] = [
  ["nothing", "", ""],
  ["a text without any", "A dog [1].", "A dog [1]."],
  ["a thought before it", "<think>Hm.\nA dog?</think>\n\nA dog.", "A dog."],
  ["a thought inside of it", "A <think>cat?</think>dog.", "A dog."],
  ["several", "<think>a</think>b<think>c</think>d", "bd"],
  ["a thought that is never closed", "A dog. <think>Or is it", "A dog. "],
  ["an empty thought of Gemma's", "<|channel>thought\n<channel|>A dog.", "A dog."],
  ["a thought of Gemma's", "<|channel>thought\na < b <think><channel|>A dog.", "A dog."],
  ["a mark of the other kind in a thought", "<think><|channel></think>A dog.", "A dog."],
  ["a thought about a mark", "<think><think></think>A dog.", "A dog."],
  ["what only begins like a mark", "1 <2, <thin, <|chan", "1 <2, <thin, <|chan"],
  ["half a mark before a mark", "<<think>a</think><", "<<"],
  ["blanks at the start", " \n A dog. ", "A dog. "],
  ["blanks only", " \n ", ""],
];

describe("a text loses what was thought", () => {
  it.each(CASES)("with %s", (_, text, spoken) => {
    expect(removed([text])).toBe(spoken);
  });

  it.each(CASES)("wherever it is cut: %s", (_, text, spoken) => {
    expect(removed(text.split(""))).toBe(spoken);
    for (let at = 0; at <= text.length; at += 1) {
      for (let to = at; to <= text.length; to += 1) {
        expect(removed([text.slice(0, at), text.slice(at, to), text.slice(to)])).toBe(spoken);
      }
    }
  });
});

it("what is certain to be spoken isn't held back", () => {
  const thoughts = new Thoughts();
  const pieces = ["A d", "og <", "t", "able", " <think>", "x</think", "> end"];
  const spoken = pieces.map((piece) => thoughts.remove(piece));
  expect(spoken).toEqual(["A d", "og ", "", "<table", " ", "", " end"]);
});
