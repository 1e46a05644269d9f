import { describe, expect, it } from "vitest";
import { SHOTS } from "../../src/config.ts";
import type { Cut } from "../../src/ingest/cut.ts";
import { cutAtShots, type Sights, videoSegments } from "../../src/ingest/cuts.ts";
import type { Asset, SmallStill, Transition } from "../../src/types.ts";

const MANY = 10_000;
const UNSEEN: Sights = {
  seen: { within: () => [], greysOf: () => Promise.resolve([]) },
  transitions: [],
  silences: [],
};

/** What is shown: a place, how bright it is, and what is written in it. */
type Shown = [place: number, light?: number, words?: number];

/** Two stills a second. */
function seen(seconds: number, shows: (seconds: number) => Shown): Sights {
  const stills = Array.from({ length: 2 * seconds }, (_, i): SmallStill => {
    const [place, light = 90] = shows(i / 2);
    const levels = Array.from({ length: 256 }, (_, at) => light + 60 * Math.sin(at * (place + 1)));
    return { seconds: i / 2, sharpness: 1, thumbnail: btoa(String.fromCharCode(...levels)) };
  });
  const within = ({ startMs, endMs }: Cut) =>
    stills.filter((still) => still.seconds * 1000 >= startMs && still.seconds * 1000 < endMs);
  const greyOf = (still: SmallStill) => {
    const [, light = 90, words = 0] = shows(still.seconds);
    return Uint8Array.from({ length: 96 ** 2 }, (_, at) => light + 60 * Math.sin(at * (words + 1)));
  };
  const greysOf = (some: readonly SmallStill[]) => Promise.resolve(some.map(greyOf));
  return { ...UNSEEN, seen: { within, greysOf } };
}

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

describe("cutting one shot", () => {
  it.each([1, 40, 999, 2499, 5000, 7400, 7600, 60_000, 3_600_123])(
    "covers %i ms without gap or overlap",
    async (durationMs) => expectWhole(await cutAtShots(durationMs, UNSEEN, MANY), durationMs),
  );

  it.each([
    [1000, MANY, 1],
    [7400, MANY, 1],
    [7600, MANY, 2],
    [60_000, MANY, 12],
    [60_000, 8, 8],
    [60_000, 0, 1],
  ])("makes of %i ms, at most %i, %i cuts", async (durationMs, most, count) => {
    expect(await cutAtShots(durationMs, UNSEEN, most)).toHaveLength(count);
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
    ["longer ones are split", 29, at(25), [8.333, 8.334, 8.333, 4]],
  ])("%s", async (_, seconds, transitions, pieces) => {
    const cuts = await cutAtShots(seconds * 1000, { ...UNSEEN, transitions }, MANY);
    expectWhole(cuts, seconds * 1000);
    expect(lengths(cuts)).toEqual(pieces);
  });

  it.each([1, 3, 10, 60, 400])(
    "makes at most %i of many, as far as they aren't too long",
    async (most) => {
      const transitions = at(...Array.from({ length: 599 }, (_, i) => i + 1 + (i % 3) / 10));
      const cuts = await cutAtShots(600_000, { ...UNSEEN, transitions }, most);
      expectWhole(cuts, 600_000);
      expect(cuts.length).toBeLessThanOrEqual(Math.max(most, 600 / SHOTS.pieceSeconds));
      expect(Math.max(...lengths(cuts))).toBeLessThanOrEqual(SHOTS.mostSeconds);
    },
  );

  it("begins with the first picture of the shot", async () => {
    const transitions: Transition[] = [{ kind: "cut", from: 3.9706, to: 4.0042 }];
    const [, second] = await cutAtShots(9000, { ...UNSEEN, transitions }, MANY);
    expect(second!.startMs).toBe(4005);
  });
});

describe("neighbouring shots that look the same", () => {
  const late = (seconds: number) => Number(seconds >= 6);
  const between = (seconds: number, from: number, to: number) =>
    Number(seconds >= from && seconds < to);
  it.each<[name: string, seconds: number, sights: Sights, cuts: number[], pieces: number[]]>([
    ["are one", 12, seen(12, () => [0]), [6], [12]],
    ["are one however light it is", 12, seen(12, (s) => [0, 90 + 60 * late(s)]), [6], [12]],
    ["are one after a flash", 12, seen(12, (s) => [5 * between(s, 6, 7)]), [6, 6.9], [12]],
    ["aren't with another between", 12, seen(12, (s) => [5 * between(s, 4, 8)]), [4, 8], [4, 4, 4]],
    ["aren't where they'd be too long", 24, seen(24, () => [0]), [8, 19], [19, 5]],
    ["aren't where they differ", 12, seen(12, (s) => [late(s)]), [6], [6, 6]],
    ["aren't with other words", 12, seen(12, (s) => [0, 90, late(s)]), [6], [6, 6]],
    ["aren't where nothing is seen", 12, UNSEEN, [6], [6, 6]],
  ])("%s", async (_, seconds, sights, cuts, pieces) => {
    const made = await cutAtShots(seconds * 1000, { ...sights, transitions: at(...cuts) }, MANY);
    expectWhole(made, seconds * 1000);
    expect(lengths(made)).toEqual(pieces);
  });
});

describe("a film of a great many shots", () => {
  it("is cut in the same way, whatever its length", async () => {
    const hours = 12;
    const times = Array.from({ length: hours * 7199 }, (_, i) => (i + 1) / 2 + (i % 7) / 50);
    const cuts = await cutAtShots(
      hours * 3_600_000,
      { ...UNSEEN, transitions: at(...times) },
      6000,
    );
    expectWhole(cuts, hours * 3_600_000);
    expect(cuts.length).toBeLessThanOrEqual(6000);
    expect(Math.min(...lengths(cuts))).toBeGreaterThanOrEqual(SHOTS.leastSeconds);
    expect(Math.max(...lengths(cuts))).toBeLessThanOrEqual(SHOTS.mostSeconds);
  });
});

it("gives a segment the same id every time", async () => {
  const asset = { assetId: "vid_01M7YVA35XVZYVST8536XZAMNP", indexId: "ind_1" } as Asset;
  const cuts = (await cutAtShots(10_000, UNSEEN, MANY)).map(({ startMs, endMs }) => {
    return { startMs, endMs, keyframeMs: startMs };
  });
  const segments = await videoSegments(asset, cuts);
  expect(await videoSegments(asset, cuts)).toEqual(segments);
  for (const { segmentId } of segments) {
    expect(segmentId).toMatch(/^seg_01M7YVA35X[0-9A-HJKMNP-TV-Z]{16}$/);
  }
});
