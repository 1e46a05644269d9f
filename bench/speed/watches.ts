import { TimeSlice } from "../../src/concurrency.ts";
import { loadDotProducts } from "../../src/dot-products.ts";
import { trustedId, type SegmentId } from "../../src/ids.ts";
import { nearestEntry } from "../../src/search/calibration-entry.ts";
import { CALIBRATIONS } from "../../src/search/calibration.ts";
import { toVectorHits } from "../../src/search/channels.ts";
import { toFullTextHits } from "../../src/search/full-text-hits.ts";
import { compileQuery, toFtsQuery } from "../../src/search/query.ts";
import { createRandom } from "../../src/search/random-numbers.ts";
import { makeSearchRequest, toSearchScope } from "../../src/search/request.ts";
import { toFtsSearch } from "../../src/search/search.ts";
import {
  findPossibleMatches,
  type Findings,
  type MatchableSegment,
  scoreFindings,
  selectMatches,
} from "../../src/search/watches/find-matches.ts";
import {
  compareVectors,
  cutoffOf,
  mergeNearest,
  type NewVector,
  toUnit,
} from "../../src/search/watches/near-vectors.ts";
import { NewTexts } from "../../src/search/watches/new-texts.ts";
import type { NearestList } from "../../src/store/d1/watches.ts";
import { countFrequencies } from "../../src/store/index-database/find-segments.ts";
import { matchAll, matchAny } from "../../src/store/index-database/fulltext.ts";
import { indexDatabase } from "../../src/store/index-database/index-database.ts";
import type { Segment, VectorKind } from "../../src/types.ts";
import { bindingOf, openMemoryDatabase } from "../../tools/memory-search/memory-database.ts";
import { quantile, round, type Suite, type SuiteOptions } from "../../tools/suite.ts";

const WATCHES = 200;
const SEGMENTS = 1000;
const ROUNDS = 9;
const DIMENSIONS = { text: 1024, image: 512 } as const;
const LIMIT_MS = 200;
/** Segments that were near before: all have text. */
const NEAR_BEFORE = { found: 200, withText: 200 };
const ASSET = trustedId<never>("vid_0");

export const suite: Suite = {
  summary:
    "processor time of comparing 1,000 new segments with 200 watches: vectors, words, and what the " +
    "full text says of those that may match (on SQLite in this process); fails above 200 ms",
  run: measure,
};

async function measure({ log }: SuiteOptions) {
  const random = createRandom(1);
  const words = Array.from({ length: 20_000 }, (_, i) => spell(i));
  const drawText = (length: number) =>
    Array.from({ length }, () => words[Math.floor(random() ** 2 * words.length)]!).join(" ");
  const drawVector = (dimensions: number) =>
    toUnit(Array.from({ length: dimensions }, () => random() - 0.5));
  log("Making segments, vectors and watches");
  const segments = Array.from({ length: SEGMENTS }, (_, i) =>
    toSegment(i, drawText(8), drawText(12)),
  );
  const vectors = segments.flatMap(({ segment: { segmentId } }): NewVector[] => [
    { segmentId, kind: "caption", values: drawVector(DIMENSIONS.text) },
    { segmentId, kind: "image", values: drawVector(DIMENSIONS.image) },
  ]);
  const scope = toSearchScope(makeSearchRequest({ topK: 0 }));
  const watches = Array.from({ length: WATCHES }, (_, i) => {
    // Every tenth matches a segment.
    const query = compileQuery(
      i % 10 === 0 ? firstWords(segments[i]!.segment.caption) : drawText(3),
    );
    const channels = (["text", "image"] as const).map((space) => ({
      space,
      values: drawVector(DIMENSIONS[space]),
      kinds: new Set<VectorKind>(space === "text" ? ["caption", "speech", "text"] : ["image"]),
    }));
    return {
      query,
      scope,
      minProbability: 0.8,
      channels,
      nearest: channels.map(({ space }) => drawNearest(space)),
    };
  });
  const database = await openDatabase(segments);
  const indexId = trustedId<never>("idx_0");
  const db = indexDatabase({ INDEX_DATABASE: bindingOf(database) }, { indexId, shard: 0 });
  const products = await loadDotProducts();
  const entry = nearestEntry(CALIBRATIONS, { text: "@cf/baai/bge-m3", image: "" });
  const parts: Record<"vectors" | "texts" | "matches" | "all", number[]> = {
    vectors: [],
    texts: [],
    matches: [],
    all: [],
  };
  let matches = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const start = cpuMs();
    const findings = watches.map((): Findings => new Map());
    const queries = watches.flatMap(({ channels, nearest }) =>
      channels.map((query, i) => ({ query, cutoff: cutoffOf(nearest[i]!) })),
    );
    const hits = compareVectors(queries, vectors, products);
    let next = 0;
    for (const [i, { channels, nearest }] of watches.entries()) {
      for (const [channel, { space }] of channels.entries()) {
        const merged = mergeNearest(nearest[channel]!, hits[next++]!, new Set());
        for (const hit of toVectorHits(space, merged.hits, merged.mean)) {
          const found = findings[i]!.get(hit.segmentId);
          if (found) found.push(hit);
          else findings[i]!.set(hit.segmentId, [hit]);
        }
      }
    }
    const afterVectors = cpuMs();
    const texts = await NewTexts.read(
      segments.map(({ segment }) => segment),
      new TimeSlice(),
    );
    const stems = watches.flatMap(({ query }) => query.terms.tokens.map(({ stem }) => stem));
    const frequencies = await countFrequencies([db], [...new Set(stems)]);
    const comparison = { segments, texts, frequencies, entry, line: null };
    const likely = watches.flatMap((watch, i) => {
      const own = findings[i]!;
      const possible = findPossibleMatches(watch, NEAR_BEFORE, own, comparison);
      return possible.segments.length > 0 ? [{ ...possible, watch, findings: own }] : [];
    });
    const afterTexts = cpuMs();
    const answers = await database.queryNewSegments(
      ASSET,
      likely.map(({ watch: { query } }) => {
        const { phrases, excluded } = toFtsQuery(query, query.terms);
        const rules = { must: matchAll(phrases), mustNot: matchAny(excluded) };
        return { fullText: toFtsSearch(query, scope, 0), rules, counts: null };
      }),
    );
    matches = 0;
    for (const [i, { watch, segments: some, findings: own, context }] of likely.entries()) {
      const weights = watch.query.terms.weights(frequencies);
      for (const hit of toFullTextHits(answers.value![i]!.fullTextHits, weights)) {
        own.set(hit.segmentId, [...(own.get(hit.segmentId) ?? []), hit]);
      }
      const scored = scoreFindings(some, own, watch, weights, context);
      matches += selectMatches(scored, watch.query, watch.minProbability).length;
    }
    const end = cpuMs();
    parts.vectors.push(afterVectors - start);
    parts.texts.push(afterTexts - afterVectors);
    parts.matches.push(end - afterTexts);
    parts.all.push(end - start);
  }
  const median = (name: keyof typeof parts) => round(quantile(parts[name], 0.5), 0);
  const figures = {
    watches: WATCHES,
    segments: SEGMENTS,
    matches,
    vectors_ms: median("vectors"),
    texts_ms: median("texts"),
    matches_ms: median("matches"),
    all_ms: median("all"),
  };
  return { table: [figures], json: figures, problems: figures.all_ms > LIMIT_MS ? 1 : 0 };
}

/** Makes a word of four syllables. */
function spell(number: number): string {
  const at = (place: number) => Math.floor(number / 16 ** place) % 16;
  return Array.from({ length: 4 }, (_, i) => "bdfgklmnprstvwzh"[at(i)]! + "aeio"[at(i) % 4]!).join(
    "",
  );
}

const firstWords = (text: string) => text.split(" ").slice(0, 3).join(" ");

/** Processor time of this thread, which other processes don't lengthen. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Cosines of the nearest vectors of a large index: chance ones are below. */
function drawNearest(space: "text" | "image"): NearestList {
  const best = space === "text" ? 0.12 : 0.16;
  return Array.from({ length: 100 }, (_, i) => [trustedId(`seg_${i}`), best - i * 0.0005]);
}

function toSegment(i: number, caption: string, transcript: string): MatchableSegment {
  const segmentId: SegmentId = trustedId(`seg_${String(i).padStart(5, "0")}`);
  const segment = {
    segmentId,
    caption,
    transcript,
    onScreenText: "",
    labels: [],
    boxes: [],
    captionModel: "model",
  } as unknown as Segment;
  return { segment, keyframeHash: null };
}

async function openDatabase(segments: readonly MatchableSegment[]) {
  const database = await openMemoryDatabase();
  const rows = segments.map(({ segment: { segmentId, caption, transcript } }) => {
    return [segmentId, caption, transcript];
  });
  await database.batch([
    {
      sql: `INSERT INTO assets (asset_id, asset_type) VALUES ('${String(ASSET)}', 'video')`,
      bindings: [],
    },
    {
      sql: `INSERT INTO segments (segment_id, asset_key, position, keyframe_ms, described_at,
          caption,
          transcript, indexed)
        SELECT value ->> 0, 1, key, 0, 0, value ->> 1, value ->> 2, 0 FROM json_each(?)`,
      bindings: [JSON.stringify(rows)],
    },
  ]);
  return database;
}
