import type { Segment, SightlineIndex } from "sightline";
import type { SampleSearch } from "../../tools/sample/pack.ts";

export interface DemoQuery {
  text: string;
  evidence: SampleSearch["evidence"];
  /** Name of the file that must rank first. */
  expectedFile?: string;
}

const MAX_QUERIES = 6;
const MAX_QUESTIONS = 2;

/**
 * Derives searches and questions from an index: labels, and the rarest words of its on-screen text
 * and speech. Empty if there are none.
 */
export async function deriveQueries(index: SightlineIndex) {
  const query = "something to see, to read or to hear";
  const { segments } = await index.search({ query, top_k: 100 });
  const queries = chooseQueries(segments);
  const subjects = queries.filter(({ evidence }) => evidence !== "visual").slice(0, MAX_QUESTIONS);
  return { queries, questions: subjects.map(({ text }) => `What is there about ${text}?`) };
}

/** Chooses terms of each kind of evidence, each from another asset if possible. */
function chooseQueries(segments: Segment[]): DemoQuery[] {
  const kinds: [DemoQuery["evidence"], (segment: Segment) => string[]][] = [
    ["visual", ({ labels }) => labels],
    ["text", ({ on_screen_text: text }) => longWords(text)],
    ["speech", ({ transcript }) => longWords(transcript)],
  ];
  const candidates = kinds.flatMap(([evidence, read]) =>
    rarestTerms(segments, read).map((text, rank) => ({ text, evidence, rank })),
  );
  candidates.sort((a, b) => a.rank - b.rank);
  const texts = new Set<string>();
  const unique = candidates.filter(({ text }) => !texts.has(text) && texts.add(text));
  return unique.slice(0, MAX_QUERIES).map(({ text, evidence }) => ({ text, evidence }));
}

/** Chooses one term per asset; terms that occur in the fewest assets come first. */
function rarestTerms(segments: Segment[], read: (segment: Segment) => string[]): string[] {
  const assetsByTerm = new Map<string, Set<string>>();
  for (const segment of segments) {
    for (const term of read(segment)) {
      const assets = assetsByTerm.get(term) ?? new Set();
      assetsByTerm.set(term, assets.add(segment.asset_id));
    }
  }
  const sorted = [...assetsByTerm].sort(
    ([a, inA], [b, inB]) => inA.size - inB.size || b.length - a.length || (a < b ? -1 : 1),
  );
  const used = new Set<string>();
  return sorted.flatMap(([term, assets]) => {
    const [asset] = assets;
    if (asset === undefined || used.has(asset)) return [];
    used.add(asset);
    return [term];
  });
}

function longWords(text: string): string[] {
  return (text.toLowerCase().match(/\p{L}{5,}/gu) ?? []).filter((word) => word.length <= 16);
}
