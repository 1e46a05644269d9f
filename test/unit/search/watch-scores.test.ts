import { describe, expect, it } from "vitest";
import {
  type SegmentContents,
  TEXT_DIMENSIONS,
  WatchedIndex,
} from "../../../tools/memory-search/watched-index.ts";
import { createRandom } from "../../../tools/random-numbers.ts";

const WORDS = (
  "red blue truck gate river bridge goat lantern market harbour snow forest window station " +
  "crowd singer guitar storm candle ladder tower meadow engine pilot doctor garden kitchen " +
  "mirror desert island valley temple palace museum library school stadium airport factory"
).split(" ");

/** A text of words, of which the first ones are the most frequent. */
function makeText(random: () => number, length: number): string {
  const draw = () => WORDS[Math.floor(random() ** 2 * WORDS.length)]!;
  return Array.from({ length }, draw).join(" ");
}

type Contents = "text" | "text and images" | "images";

function makeSegments(seed: number, count: number, contents: Contents): SegmentContents[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => {
    const texts = { caption: makeText(random, 5), transcript: makeText(random, 12) };
    const shows = contents === "text" ? "" : makeText(random, 4);
    return contents === "images" ? { ...NO_TEXTS, shows } : { ...texts, shows };
  });
}

const NO_TEXTS = { caption: "", transcript: "" };

/** Embeds a text as the sum of a direction for each of its words, and one for the text. */
function embed(text: string): number[] {
  const vector = Array.from({ length: TEXT_DIMENSIONS }, () => 0);
  const add = (seed: number, weight: number) => {
    const random = createRandom(seed);
    for (let i = 0; i < 64; i++) vector[i]! += weight * (random() - 0.5);
  };
  for (const word of text.split(" ")) add(1 + WORDS.indexOf(word), 1);
  add(1000 + (Array.from(text).reduce((sum, char) => sum * 31 + char.charCodeAt(0), 7) % 1e6), 0.5);
  return vector;
}

const QUERIES = [
  ...WORDS.slice(0, 16),
  ...Array.from({ length: 16 }, (_, i) => `${WORDS[i]!} ${WORDS[i + 7]!}`),
  ...Array.from({ length: 8 }, (_, i) => `"${WORDS[i]!}" ${WORDS[i + 20]!} -${WORDS[i + 1]!}`),
];

describe("the score of a new segment for a watch", () => {
  it.each<[string, Contents, number]>([
    ["a small index of text", "text", 30],
    ["a small index of text and images", "text and images", 30],
    ["a small index of images", "images", 30],
    ["an index with more texts than a search reads", "text", 300],
    ["an index with more texts and images than a search reads", "text and images", 300],
    ["an index with more images than a search reads", "images", 300],
  ])(
    "is that of a search, in %s",
    async (_, contents, archived) => {
      const archive = makeSegments(1, archived, contents);
      const index = await WatchedIndex.open(`${contents} ${archived}`, embed, archive);
      const watches = await Promise.all(
        QUERIES.map(async (query) => ({ query, id: await index.addWatch(query, 0) })),
      );
      await index.addVideo(makeSegments(2, 150, contents));
      await index.match();
      const differences: number[] = [];
      for (const { query, id } of watches) {
        const matches = await index.matchesOf(id);
        const byId = new Map(matches.map((match) => [match.segmentId, match.score]));
        for (const { segment, score, signals } of await index.search(query, 100)) {
          // A search ranks the hundred best of the full text, and a watch each new segment.
          if (signals.term_coverage && !signals.bm25_normalized) continue;
          const own = byId.get(segment.segmentId);
          const isNew = segment.segmentId.at(-6) === "1"; // of the asset that was added
          if (isNew && own !== undefined) differences.push(Math.abs(own - score));
          if (isNew && score > 0.1) expect(own).toBeDefined();
        }
      }
      expect(differences.length).toBeGreaterThan(500);
      expect(Math.max(...differences)).toBeLessThan(0.001);
    },
    60_000,
  );
});
