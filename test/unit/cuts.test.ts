import { describe, expect, it } from "vitest";
import { SHOTS } from "../../src/config.ts";
import { type Cut, cutAtShots, cutEvenly, videoSegments } from "../../src/ingest/cuts.ts";
import type { Asset, Transition } from "../../src/types.ts";

const MANY = 10_000;

/** A cut at each second that is named, a gradual transition at each pair of them. */
function at(...times: (number | [number, number])[]): Transition[] {
  return times.map((time) =>
    typeof time === "number"
      ? { kind: "cut", from: time - 0.04, to: time }
      : { kind: "gradual", from: time[0], to: time[1] },
  );
}

function lengths(cuts: Cut[]): number[] {
  return cuts.map(({ startMs, endMs }) => (endMs - startMs) / 1000);
}

function expectWhole(cuts: Cut[], durationMs: number) {
  expect(cuts[0]!.startMs).toBe(0);
  expect(cuts.at(-1)!.endMs).toBe(durationMs);
  for (const [i, { startMs, endMs }] of cuts.entries()) {
    if (i > 0) expect(startMs).toBe(cuts[i - 1]!.endMs);
    expect(endMs).toBeGreaterThan(startMs);
  }
}

describe("cutting evenly", () => {
  it.each([1, 40, 999, 2499, 5000, 7400, 7600, 60_000, 3_600_123])(
    "covers %i ms without gap or overlap",
    (durationMs) => expectWhole(cutEvenly(durationMs, MANY), durationMs),
  );

  it.each([
    [1000, MANY, 1],
    [7400, MANY, 1],
    [7600, MANY, 2],
    [60_000, MANY, 12],
    [60_000, 8, 8],
    [60_000, 0, 1],
  ])("makes of %i ms, at most %i, %i cuts", (durationMs, most, count) => {
    expect(cutEvenly(durationMs, most)).toHaveLength(count);
  });
});

describe("cutting at shots", () => {
  it.each<[name: string, seconds: number, transitions: Transition[], pieces: number[]]>([
    ["a shot is a cut", 12, at(4, 9), [4, 5, 3]],
    ["without transitions, evenly", 12, [], [6, 6]],
    ["a gradual one in its middle", 10, at([4, 5]), [4.5, 5.5]],
    ["what overlaps another doesn't count", 10, at([4, 5], 4.96), [4.5, 5.5]],
    ["what is seen twice counts once", 10, at(4, 4), [4, 6]],
    ["the end is no transition", 10, at(4, 10, 10.2), [4, 6]],
    ["in whatever order they come", 12, at(9, 4), [4, 5, 3]],
    ["a short one joins its shorter neighbour", 10, at(6, 6.5), [6, 4]],
    ["a short first one joins the second", 10, at(0.5, 4), [4, 6]],
    ["short ones until none is left", 4, at(0.5, 1, 1.5, 2, 2.5, 3, 3.5), [1, 1, 1, 1]],
    ["all of them may be short", 0.9, at(0.3, 0.6), [0.9]],
    ["20 s stay whole", 25, at(20), [20, 5]],
    ["longer ones are cut evenly", 29, at(25), [8.333, 8.334, 8.333, 4]],
  ])("%s", (_, seconds, transitions, pieces) => {
    const cuts = cutAtShots(seconds * 1000, transitions, MANY);
    expectWhole(cuts, seconds * 1000);
    expect(lengths(cuts)).toEqual(pieces);
  });

  it.each([1, 3, 10, 60, 400])(
    "makes at most %i of many, as far as they aren't too long",
    (most) => {
      const transitions = at(...Array.from({ length: 599 }, (_, i) => i + 1 + (i % 3) / 10));
      const cuts = cutAtShots(600_000, transitions, most);
      expectWhole(cuts, 600_000);
      expect(cuts.length).toBeLessThanOrEqual(Math.max(most, 600 / SHOTS.pieceSeconds));
      expect(Math.max(...lengths(cuts))).toBeLessThanOrEqual(SHOTS.mostSeconds);
    },
  );

  it("begins with the first picture of the shot", () => {
    const [, second] = cutAtShots(9000, [{ kind: "cut", from: 3.9706, to: 4.0042 }], MANY);
    expect(second!.startMs).toBe(4005);
  });
});

it("gives a segment the same id every time", async () => {
  const asset = { assetId: "vid_01M7YVA35XVZYVST8536XZAMNP", indexId: "ind_1" } as Asset;
  const cuts = cutEvenly(10_000, MANY).map(({ startMs, endMs }) => {
    return { startMs, endMs, keyframeMs: startMs };
  });
  const segments = await videoSegments(asset, cuts);
  expect(await videoSegments(asset, cuts)).toEqual(segments);
  for (const { segmentId } of segments) {
    expect(segmentId).toMatch(/^seg_01M7YVA35X[0-9A-HJKMNP-TV-Z]{16}$/);
  }
});
