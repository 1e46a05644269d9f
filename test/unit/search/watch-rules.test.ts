import { describe, expect, it } from "vitest";
import { TimeSlice } from "../../../src/concurrency.ts";
import { loadDotProducts } from "../../../src/dot-products.ts";
import { type SegmentId, trustedId } from "../../../src/ids.ts";
import { compileQuery } from "../../../src/search/query.ts";
import { type ScoredSegment, selectMatches } from "../../../src/search/watches/find-matches.ts";
import {
  compareVectors,
  cutoffOf,
  mergeNearest,
  toUnit,
} from "../../../src/search/watches/near-vectors.ts";
import { NewTexts } from "../../../src/search/watches/new-texts.ts";
import {
  expectedPrecision,
  summarizePreview,
} from "../../../src/search/watches/preview-summary.ts";
import type { NearestList } from "../../../src/store/d1/watches.ts";
import type { Segment, VectorKind } from "../../../src/types.ts";

const QUERY = compileQuery("red truck");
const idOf = (name: string): SegmentId => trustedId(`seg_${name}`);

function scored(name: string, score: number, keyframeHash: number[] | null = null): ScoredSegment {
  const segment = { segmentId: idOf(name), transcript: "", onScreenText: "" } as Segment;
  return { segment, keyframeHash, score, signals: {}, channelHits: [], fieldMatches: [] };
}

describe("new vectors", () => {
  const query = (values: number[], kinds: VectorKind[]) => {
    const vector = { space: "text" as const, values: toUnit(values), kinds: new Set(kinds) };
    return { query: vector, cutoff: 0.5 };
  };

  it("are hits of the queries that they are near to, by kind and model", async () => {
    const vectors = [
      { segmentId: idOf("a"), kind: "caption" as const, values: new Float32Array([2, 0]) },
      { segmentId: idOf("b"), kind: "speech" as const, values: new Float32Array([0, 3]) },
      { segmentId: idOf("c"), kind: "image" as const, values: new Float32Array([1, 0]) },
      { segmentId: idOf("d"), kind: "caption" as const, values: new Float32Array([1, 0, 0]) },
    ];
    const queries = [query([1, 0], ["caption", "speech"]), query([1, 1], ["speech"])];
    const [first, second] = compareVectors(queries, vectors, await loadDotProducts());
    expect(first).toEqual([{ segmentId: idOf("a"), kind: "caption", cosine: 1 }]);
    expect(second).toEqual([
      { segmentId: idOf("b"), kind: "speech", cosine: expect.closeTo(Math.SQRT1_2, 6) },
    ]);
  });

  it("are merged into the nearest 100, without those that they replace", () => {
    const nearest: NearestList = Array.from({ length: 100 }, (_, i) => [idOf(`${i}`), 1 - i / 200]);
    const hits = [
      { segmentId: idOf("0"), kind: "caption" as const, cosine: 0.9 },
      { segmentId: idOf("far"), kind: "caption" as const, cosine: 0.2 },
    ];
    const merged = mergeNearest(nearest, hits, new Set([idOf("0"), idOf("far")]));
    expect(merged.hits).toEqual([hits[0]]);
    expect(merged.nearest).toHaveLength(100);
    expect(cutoffOf(merged.nearest)).toBe(0.505);
    expect(cutoffOf([])).toBe(-Infinity);
  });
});

describe("new texts", () => {
  const read = (captions: string[]) => {
    const segments = captions.map((caption, i) => {
      const segmentId = idOf(`${i}`);
      return { segmentId, caption, transcript: "", onScreenText: "", labels: [] as string[] };
    });
    return NewTexts.read(segments as Segment[], new TimeSlice());
  };

  it.each<[string, string, number[][]]>([
    ["red trucks", "red truck", [[0, 1]]],
    ["one of the words", "red harbour", [[0], [1]]],
    ["a number joined to its unit", "25 km", [[0]]],
  ])("may have %s: the terms of the query that each has", async (_, query, expected) => {
    const texts = await read(["two red trucks", "the harbour", "25km to go"]);
    const { terms } = compileQuery(query);
    const possible = texts.possibleTerms(
      terms,
      Array.from({ length: terms.count }, () => 1),
    );
    const found = [...possible.values()].map((some) => Array.from(some));
    for (const some of expected) expect(found).toContainEqual(some);
  });

  it("without a term, or with one of no weight only, are left out", async () => {
    const texts = await read(["two red trucks", "the harbour"]);
    const possible = texts.possibleTerms(compileQuery("red harbour").terms, [1, 0]);
    expect([...possible.keys()]).toEqual([idOf("0")]);
  });
});

describe("matches of an asset", () => {
  it.each<[string, ScoredSegment[], string[], string[]]>([
    ["as probable as asked for", [scored("a", 0.9), scored("b", 0.89)], [], ["a"]],
    [
      "the best of near-duplicates",
      [scored("a", 0.91, [1, 2]), scored("b", 0.95, [1, 2])],
      [],
      ["b"],
    ],
    ["not matched before", [scored("a", 0.95), scored("b", 0.95)], ["a"], ["b"]],
    [
      "not near-duplicates of what has matched",
      [scored("a", 0.91, [1, 2]), scored("b", 0.95, [1, 2])],
      ["a"],
      [],
    ],
  ])("are segments that are %s", (_, segments, before, expected) => {
    const matches = selectMatches(segments, QUERY, 0.9, new Set(before.map(idOf)));
    expect(matches.map(({ segmentId }) => segmentId)).toEqual(expected.map(idOf));
  });
});

describe("a preview", () => {
  it("counts matches by day and threshold", () => {
    const assets = [
      { createdAt: Date.UTC(2026, 10, 2), scored: [scored("a", 0.96), scored("b", 0.72)] },
      { createdAt: Date.UTC(2026, 10, 1), scored: [scored("c", 0.92)] },
    ];
    const preview = summarizePreview(assets, QUERY, 0.9);
    expect(preview.matches).toBe(2);
    expect(preview.matches_by_day).toEqual([
      { date: "2026-11-01", matches: 1 },
      { date: "2026-11-02", matches: 1 },
    ]);
    expect(preview.thresholds.map(({ matches }) => matches)).toEqual([3, 3, 2, 2, 1]);
    expect(preview.best.map(({ segmentId }) => segmentId)).toEqual(["a", "c"].map(idOf));
    expect(preview.nearest.map(({ segmentId }) => segmentId)).toEqual(["c", "a", "b"].map(idOf));
  });

  it.each<[number[], number | null, [number, number] | null]>([
    [[], null, null],
    [[1, 1], 1, [1, 1]],
    [[0.5, 0.5, 0.5, 0.5], 0.5, [0.01, 0.99]],
  ])("expects of the scores %j the precision %s within %j", (scores, mean, interval) => {
    const rounded = interval?.map((bound) => expect.closeTo(bound, 2)) ?? null;
    expect(expectedPrecision(scores)).toEqual([mean, rounded]);
  });
});
