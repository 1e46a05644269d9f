import { describe, expect, it } from "vitest";
import { extractQuotes } from "../../src/answer/extractive.ts";
import type { Evidence } from "../../src/search/evidence.ts";
import type { Hit } from "../../src/search/hits.ts";

function makeHit(rank: number, transcript: string, evidence: Partial<Evidence>): Hit {
  const segment = { segmentId: `s${rank}`, transcript, onScreenText: "", caption: "A person." };
  const speechEvidence = { kind: "speech", score: 1, text: "…", ...evidence };
  return { rank, segment, evidence: [speechEvidence] } as Hit;
}

describe("an extractive answer", () => {
  it("is the verbatim sentence with most of the question's terms", () => {
    const text = "We met in May. The budget is forty euros! Then we left.";
    const quotes = extractQuotes("How large is the budget in euros?", [makeHit(1, text, {})]);
    expect(quotes.map(({ sentence }) => sentence)).toEqual(["The budget is forty euros!"]);
  });

  it("has at most one sentence per segment, and only the best ones", () => {
    const quotes = extractQuotes("red dogs", [
      makeHit(1, "A cat. A dog.", {}),
      makeHit(2, "A red dog ran.", {}),
      makeHit(3, "A dog.", {}),
    ]);
    expect(quotes.map(({ sentence }) => sentence)).toEqual(["A red dog ran."]);
  });

  it.each([
    ["How long is the ferry to Oban?", "The ferry to Oban takes an hour.", true],
    ["How long is the ferry to Iona?", "The ferry to Oban takes an hour.", false],
    ["When was the ferry to Oban built?", "The ferry to Oban takes an hour.", false],
    ["Which colour has the boat of Ann?", "The boat that Ann has is red.", true],
    ["What kind of boats does Ann build?", "Ann builds rowing boats.", true],
    ["Where are the dogs?", "A dog sleeps on the sofa.", true],
    ["What happened in 1999?", "In 1998 the bridge fell.", false],
    ["What is said about the bridge?", "In 1998 the bridge fell.", true],
    ["red dogs", "A dog.", false],
  ])("to %j quotes %j: %s", (question, sentence, isQuoted) => {
    expect(extractQuotes(question, [makeHit(1, sentence, {})])).toHaveLength(isQuoted ? 1 : 0);
  });

  it("is empty without hits", () => {
    expect(extractQuotes("anything", [])).toEqual([]);
  });
});
