import { describe, expect, it } from "vitest";
import { type AssetId, type SegmentId, trustedId } from "../../../../src/ids.ts";
import { isWithinScope, makeScopes } from "../../../../src/search/logic/search-logic.ts";
import type { SegmentPosition } from "../../../../src/store/index-database/find-segments.ts";

const LIMITS = { maxCandidates: 10, maxScored: 10, maxNeighbours: 10 };

/** Segments of ten seconds each: "a0" is the first of video a. An image has no times. */
function segment(name: string): SegmentPosition {
  const position = Number(name.slice(1));
  const isImage = name.startsWith("i");
  return {
    segmentId: trustedId<SegmentId>(name),
    assetId: trustedId<AssetId>(isImage ? name : name[0]!),
    startMs: isImage ? null : 10_000 * position,
    endMs: isImage ? null : 10_000 * (position + 1),
  };
}

const all = ["a0", "a1", "a2", "a3", "b0", "b1", "i0", "i1"].map(segment);

function scopesOf(names: string[], seconds: number, limits = {}) {
  const scopes = makeScopes(names.map(segment), all, seconds, { ...LIMITS, ...limits });
  return Object.fromEntries([...scopes].map(([id, ids]) => [id, ids.join(" ")]));
}

describe("The scope of a candidate", () => {
  it.each<[string, string[], number, object, Record<string, string>]>([
    ["of 0 seconds is itself", ["a1"], 0, {}, { a1: "a1" }],
    ["has what meets it, itself first", ["a1"], 1, {}, { a1: "a1 a0 a2" }],
    ["has what is as far away as the scope", ["a1"], 10, {}, { a1: "a1 a0 a2 a3" }],
    ["is within its video", ["b0"], 100, {}, { b0: "b0 b1" }],
    ["of an image is itself", ["i0"], 100, {}, { i0: "i0" }],
    ["has the nearest neighbours", ["a3"], 100, { maxNeighbours: 1 }, { a3: "a3 a2" }],
    ["is made for the first candidates", ["a0", "b0"], 0, { maxCandidates: 1 }, { a0: "a0" }],
    [
      "is made until there are enough segments",
      ["a0", "b0"],
      100,
      { maxScored: 5 },
      { a0: "a0 a1 a2 a3" },
    ],
    [
      "may be shared",
      ["a0", "a1"],
      100,
      { maxScored: 4 },
      { a0: "a0 a1 a2 a3", a1: "a1 a0 a2 a3" },
    ],
  ])("%s", (_, names, seconds, limits, expected) => {
    expect(scopesOf(names, seconds, limits)).toEqual(expected);
  });

  it.each<[string, string, number, boolean]>([
    ["a0", "a0", 0, true],
    ["a0", "a1", 0, false],
    ["a0", "a2", 10, true],
    ["a0", "a2", 9, false],
    ["a0", "b0", 100, false],
    ["i0", "i0", 0, true],
    ["i0", "i1", 100, false],
  ])("of %s has %s within %d seconds: %s", (a, b, seconds, expected) => {
    expect(isWithinScope(segment(a), segment(b), seconds)).toBe(expected);
  });
});
