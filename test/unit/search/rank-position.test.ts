import { describe, expect, it } from "vitest";
import { parseCursor, toSearchResult } from "../../../src/routes/records/search-result.ts";
import { findPosition, positionAfter } from "../../../src/search/hits.ts";

const hit = (segmentId: string, score: number, depth = 100) => ({
  candidate: {
    segment: { segmentId, transcript: "", onScreenText: "" },
    asset: { assetId: "vid_1" },
    keyframeHash: null,
    signals: {},
    score,
    depth,
  } as never as Parameters<typeof findPosition>[0][number]["candidate"],
});
const RANKED = [
  hit("seg_a", 0.9),
  hit("seg_b", 0.8),
  hit("seg_c", 0.8),
  hit("seg_d", 0.7),
  hit("seg_e", 0.95, 400),
  hit("seg_f", 0.1, 400),
];
const idsFrom = (ranked: typeof RANKED, page: typeof RANKED) =>
  ranked.slice(findPosition(ranked, positionAfter(page))).map(({ candidate }) => {
    return candidate.segment.segmentId;
  });
const without = (...ids: string[]) =>
  RANKED.filter(({ candidate }) => !ids.includes(candidate.segment.segmentId));

describe("the page after two hits begins with the third", () => {
  it.each<[string, string[]]>([
    ["if nothing was deleted", []],
    ["if the first was deleted", ["seg_a"]],
    ["if the last was deleted", ["seg_b"]],
    ["if both were deleted", ["seg_a", "seg_b"]],
  ])("%s", (_, deleted) => {
    const rest = idsFrom(without(...deleted), RANKED.slice(0, 2));
    expect(rest).toEqual(["seg_c", "seg_d", "seg_e", "seg_f"]);
  });

  it("also among equal scores and in deeper passes", () => {
    expect(idsFrom(without("seg_a", "seg_b", "seg_c"), RANKED.slice(0, 3))).toEqual([
      "seg_d",
      "seg_e",
      "seg_f",
    ]);
    expect(idsFrom(without("seg_c", "seg_d", "seg_e"), RANKED.slice(2, 5))).toEqual(["seg_f"]);
    expect(idsFrom([], RANKED)).toEqual([]);
  });

  it("even if every score has become a little lower", () => {
    const lower = without("seg_b").map(({ candidate }) =>
      hit(candidate.segment.segmentId, candidate.score - 0.01, candidate.depth),
    );
    expect(idsFrom(lower, RANKED.slice(0, 2))[0]).toBe("seg_c");
  });
});

it("a cursor carries its position", async () => {
  const next = { segmentIds: ["seg_2", "seg_1"], depth: 100, score: 1e-7 };
  const page = {
    offset: 2,
    readyBy: 1_700_000_000_000,
    cursorTag: "tag",
    total: 9,
    count: 3,
    next,
    calibration: "fitted" as const,
    interpretation: { excluded: [], corrected: null },
    facets: {},
  };
  const { next_cursor: cursor } = await toSearchResult([], page, async () => "");
  expect(parseCursor(cursor!, "tag")).toEqual({
    offset: 5,
    after: next,
    readyBy: 1_700_000_000_000,
    cursorTag: "tag",
  });
});
