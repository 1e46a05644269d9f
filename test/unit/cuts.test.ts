import { describe, expect, it } from "vitest";
import { cutEvenly, videoSegments } from "../../src/ingest/cuts.ts";
import type { Asset } from "../../src/types.ts";

describe("cutting evenly", () => {
  it.each([1, 40, 999, 2499, 5000, 7400, 7600, 60_000, 3_600_123])(
    "covers %i ms without gap or overlap, each keyframe inside its cut",
    (durationMs) => {
      const cuts = cutEvenly(durationMs);
      expect(cuts[0]!.startMs).toBe(0);
      expect(cuts.at(-1)!.endMs).toBe(durationMs);
      for (const [i, cut] of cuts.entries()) {
        if (i > 0) expect(cut.startMs).toBe(cuts[i - 1]!.endMs);
        expect(cut.keyframeMs).toBeGreaterThanOrEqual(cut.startMs);
        expect(cut.keyframeMs).toBeLessThan(cut.endMs);
      }
    },
  );

  it.each([
    [1000, 1],
    [7400, 1],
    [7600, 2],
    [60_000, 12],
  ])("makes of %i ms %i cuts", (durationMs, count) => {
    expect(cutEvenly(durationMs)).toHaveLength(count);
  });
});

it("gives a segment the same id every time", async () => {
  const asset = { assetId: "vid_01M7YVA35XVZYVST8536XZAMNP", indexId: "ind_1" } as Asset;
  const segments = await videoSegments(asset, cutEvenly(10_000));
  expect(await videoSegments(asset, cutEvenly(10_000))).toEqual(segments);
  for (const { segmentId } of segments) {
    expect(segmentId).toMatch(/^seg_01M7YVA35X[0-9A-HJKMNP-TV-Z]{16}$/);
  }
});
