import { describe, expect, it } from "vitest";
import { type SegmentId, trustedId } from "../../../src/ids.ts";
import type { Candidate } from "../../../src/search/find-for-query.ts";
import type { HitAsset } from "../../../src/search/hits.ts";
import { compileQuery } from "../../../src/search/query.ts";
import { selectMatches, summarizePreview } from "../../../src/search/watches/match-asset.ts";
import type { Segment } from "../../../src/types.ts";

const QUERY = compileQuery("red truck");
const idOf = (name: string): SegmentId => trustedId(`seg_${name}`);

function scored(name: string, score: number, keyframeHash: number[] | null = null): Candidate {
  const segment = { segmentId: idOf(name), transcript: "", onScreenText: "" } as Segment;
  const found = { signals: {}, depth: 100, channelHits: [], fieldMatches: [] };
  return { segment, asset: {} as HitAsset, keyframeHash, score, ...found };
}

describe("matches of an asset", () => {
  it.each<[string, Candidate[], string[], string[]]>([
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
    expect(preview.thresholds[2]!.expected_precision).toBeCloseTo(0.94);
    expect(preview.best.map(({ segmentId }) => segmentId)).toEqual(["a", "c"].map(idOf));
    expect(preview.nearest.map(({ segmentId }) => segmentId)).toEqual(["c", "a", "b"].map(idOf));
  });

  it("expects no precision where nothing matches", () => {
    const { thresholds } = summarizePreview([], QUERY, 0.9);
    expect(thresholds.map((one) => one.expected_precision)).toEqual([null, null, null, null, null]);
  });
});
