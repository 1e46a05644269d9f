import type { Api, HitRecord, SegmentRecord } from "./api-client.ts";
import type { SampleSearch } from "../sample/pack.ts";

export interface Query {
  text: string;
  why: SampleSearch["why"];
  /** Name of the file that must come first. */
  expect?: string;
}

const MOST_QUERIES = 6;
const MOST_QUESTIONS = 2;

/**
 * Searches and questions that suit what an index holds: the labels, and the rarest of the words seen
 * and spoken in it. Empty where nothing was understood.
 */
export async function deriveQueries(api: Api, indexName: string) {
  const { segments } = await api.post<{ segments: HitRecord[] }>(`/index/${indexName}/search`, {
    query: "something to see, to read or to hear",
    top_k: 100,
  });
  const queries = chooseQueries(segments);
  const asked = queries.filter(({ why }) => why !== "seen").slice(0, MOST_QUESTIONS);
  return { queries, questions: asked.map(({ text }) => `What is there about ${text}?`) };
}

/** A share of each kind of evidence, each from another asset where possible. */
function chooseQueries(segments: SegmentRecord[]): Query[] {
  const kinds: [Query["why"], (segment: SegmentRecord) => string[]][] = [
    ["seen", ({ labels }) => labels],
    ["written", ({ on_screen_text: text }) => longWords(text)],
    ["spoken", ({ transcript }) => longWords(transcript)],
  ];
  const chosen = kinds.flatMap(([why, read]) =>
    rarest(segments, read).map((text, place) => ({ text, why, place })),
  );
  chosen.sort((a, b) => a.place - b.place);
  const texts = new Set<string>();
  const unique = chosen.filter(({ text }) => !texts.has(text) && texts.add(text));
  return unique.slice(0, MOST_QUERIES).map(({ text, why }) => ({ text, why }));
}

/** One term of each asset, the terms of fewest assets first. */
function rarest(segments: SegmentRecord[], read: (segment: SegmentRecord) => string[]): string[] {
  const holders = new Map<string, Set<string>>();
  for (const segment of segments) {
    for (const term of read(segment)) {
      const assets = holders.get(term) ?? new Set();
      holders.set(term, assets.add(segment.asset_id));
    }
  }
  const sorted = [...holders].sort(
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
