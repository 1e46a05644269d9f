import { describe, expect, it } from "vitest";
import { extractQuotes } from "../../src/answer/extract.ts";
import type { Evidence } from "../../src/search/evidence.ts";
import type { Hit } from "../../src/search/hits.ts";

function hit(rank: number, transcript: string, evidence: Partial<Evidence>): Hit {
  const segment = { segmentId: `s${rank}`, transcript, onScreenText: "", caption: "A person." };
  const piece = { kind: "speech", score: 1, text: "…", ...evidence };
  return { rank, segment, evidence: [piece] } as Hit;
}

describe("an extractive answer", () => {
  it("is the sentence that shares most words with the question, word for word", () => {
    const text = "We met in May. The budget is forty euros! Then we left.";
    const quotes = extractQuotes("How large is the budget in euros?", [hit(1, text, {})]);
    expect(quotes.map(({ sentence }) => sentence)).toEqual(["The budget is forty euros!"]);
  });

  it("has one sentence a moment, the best first, none twice", () => {
    const quotes = extractQuotes("red dogs", [
      hit(1, "A cat. A dog.", {}),
      hit(2, "A red dog ran.", {}),
      hit(3, "A dog.", {}),
    ]);
    expect(quotes.map(({ sentence }) => sentence)).toEqual(["A red dog ran.", "A dog."]);
  });

  it.each<[string, Evidence]>([
    ["few of the question's words", { kind: "speech", score: 0.2, text: "<mark>x</mark>" }],
    ["a meaning that is only the nearest there is", { kind: "speech", score: 0.4 }],
  ])("is empty for %s", (_, piece) => {
    const found: Hit = { ...hit(1, "A dog.", {}), evidence: [piece] };
    expect(extractQuotes("red dogs", [found])).toEqual([]);
  });

  it("is empty without hits", () => {
    expect(extractQuotes("anything", [])).toEqual([]);
  });
});
