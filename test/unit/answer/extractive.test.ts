import { describe, expect, it } from "vitest";
import { extractQuotes as extract } from "../../../src/answer/extractive.ts";
import type { Evidence } from "../../../src/search/evidence.ts";
import type { Hit } from "../../../src/search/hits.ts";

function makeHit(rank: number, transcript: string, evidence: Partial<Evidence>): Hit {
  const segment = {
    segmentId: `s${rank}`,
    transcript,
    onScreenText: "",
    caption: "A person.",
    boxes: [],
  };
  const speechEvidence = { kind: "speech", score: 1, text: "…", ...evidence };
  return { rank, segment, evidence: [speechEvidence] } as unknown as Hit;
}

/** Embeddings for which the cosine of the first text with each other one is `similarity`. */
const aiWith = (similarity: number) =>
  ({
    async run(_: string, { text }: { text: string[] }) {
      const zeros = Array.from({ length: 1022 }, () => 0);
      const other = [similarity, Math.sqrt(1 - similarity ** 2), ...zeros];
      const data = text.map((_text, i) => (i === 0 ? [1, 0, ...zeros] : other));
      return { shape: [data.length, 1024], data };
    },
  }) as unknown as Ai;
const FAILING_AI = {
  run: () => Promise.reject(new Error("3040: Capacity temporarily exceeded")),
} as unknown as Ai;

const extractQuotes = (question: string, hits: Hit[], ai = aiWith(0.55)) =>
  extract({ AI: ai }, question, hits);

describe("an extractive answer", () => {
  it("is the verbatim sentence with most of the question's terms", async () => {
    const text = "We met in May. The budget is forty euros! Then we left.";
    const quotes = await extractQuotes("How large is the budget in euros?", [makeHit(1, text, {})]);
    expect(quotes.map(({ sentence }) => sentence)).toEqual(["The budget is forty euros!"]);
  });

  it("has at most one sentence per segment, and only the best ones", async () => {
    const quotes = await extractQuotes("red dogs", [
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
    ["What does Mr. Okafor water?", "Mr. Okafor waters the tomatoes.", true],
    ["What does Mrs. Okafor water?", "Mr. Okafor waters the tomatoes.", false],
    ["What does the boy play?", "A girl plays the cello.", false],
    ["Which song does the girl play?", "A girl plays the cello.", false],
    ["What is next to the clock?", "A clock and a potted plant.", true],
    ["To whom does the dairy sell butter?", "The dairy sells butter to schools.", true],
    ["Where are the dogs?", "A dog sleeps on the sofa.", true],
    ["What happened in 1999?", "In 1998 the bridge fell.", false],
    ["What is said about the bridge?", "In 1998 the bridge fell.", true],
    ["red dogs", "A dog.", false],
  ])("to %j quotes %j: %s", async (question, sentence, isQuoted) => {
    expect(await extractQuotes(question, [makeHit(1, sentence, {})])).toHaveLength(
      isQuoted ? 1 : 0,
    );
  });

  it.each([
    ["Which animal is on the skateboard?", "A dog and a skateboard.", true],
    ["Which animal is on the skateboard?", "A person and a skateboard.", false],
    ["Who drinks coffee?", "A biker enjoys a coffee.", true],
    ["Who is on the skateboard?", "A dog and a skateboard.", false],
    ["At what time does the boat for Oban depart?", "The ferry to Oban leaves at noon.", true],
    ["At what time does the boat for Oban depart?", "The ferry to Iona leaves at noon.", false],
    ["How much must one pay for the boat to Oban?", "The ferry to Oban leaves at noon.", false],
    ["What colour is the horse?", "A brown horse gallops across a field.", true],
    ["What colour is the horse?", "A horse gallops across a field.", false],
    ["How many dogs are there?", "Two dogs run through the snow.", true],
    ["How many dogs are there?", "Dogs run through the snow.", false],
    ["Welche Farbe hat das Pferd?", "A brown horse gallops across a field.", false],
  ])("in other words: to %j quotes %j: %s", async (question, sentence, isQuoted) => {
    expect(await extractQuotes(question, [makeHit(1, sentence, {})])).toHaveLength(
      isQuoted ? 1 : 0,
    );
  });

  it.each([
    ["Two dogs run.", ["dog", "dog", "person"], true],
    ["Two dogs run.", ["dog", "dog", "dog"], false],
    ["Two dogs run.", ["person"], true],
    ["Two dogs run.", [], true],
  ])("quotes a caption %j that counts, with boxes of %j: %s", async (caption, labels, isQuoted) => {
    const hit = makeHit(1, "", {});
    const boxes = labels.map((label) => ({ label, score: 1, x: 0, y: 0, width: 1, height: 1 }));
    const counted = { ...hit, segment: { ...hit.segment, caption, boxes } };
    const quotes = await extractQuotes("How many dogs are there?", [counted]);
    expect(quotes).toHaveLength(isQuoted ? 1 : 0);
  });

  it("in other words needs no embeddings if the words say enough", async () => {
    const hits = [makeHit(1, "Bees come at dawn.", {}), makeHit(2, "Bees come at dawn.", {})];
    const quotes = await extractQuotes("Which insects arrive at dawn?", hits, FAILING_AI);
    expect(quotes.map(({ hit }) => hit.rank)).toEqual([1]);
  });

  it("in other words needs embeddings if the words say little", async () => {
    const hits = [makeHit(1, "The ferry to Oban leaves at noon.", {})];
    const question = "When must travellers to Oban be aboard?";
    expect(await extractQuotes(question, hits, aiWith(0.9))).toHaveLength(1);
    expect(await extractQuotes(question, hits, FAILING_AI)).toEqual([]);
  });

  it("is empty without hits", async () => {
    expect(await extractQuotes("anything", [])).toEqual([]);
  });
});
