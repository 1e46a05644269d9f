import { describe, expect, it } from "vitest";
import {
  segmentVideo,
  type SegmentationInput,
  toSegments,
} from "../../../../src/ingest/segmentation.ts";
import { SHOTS } from "../../../../src/parameters.ts";
import type { TimeRangeMs } from "../../../../src/time-range.ts";
import type { Asset, FrameSummary, Transition } from "../../../../src/types.ts";

const NO_LIMIT = 10_000;
const NO_FRAMES: SegmentationInput = {
  frames: { framesIn: () => [], readLuma: () => Promise.resolve([]) },
  transitions: [],
  silences: [],
};

/** Content of a frame: numbers that stand for a scene and for a text in it, and a brightness. */
type FrameContent = [scene: number, brightness?: number, text?: number];

/** Samples two frames a second. */
function framesOf(
  seconds: number,
  contentAt: (seconds: number) => FrameContent,
): SegmentationInput {
  const frames = Array.from({ length: 2 * seconds }, (_, i): FrameSummary => {
    const [scene, brightness = 90] = contentAt(i / 2);
    const luma = Array.from(
      { length: 256 },
      (_, at) => brightness + 60 * Math.sin(at * (scene + 1)),
    );
    return { seconds: i / 2, sharpness: 1, lumaThumbnail: btoa(String.fromCharCode(...luma)) };
  });
  const framesIn = ({ startMs, endMs }: TimeRangeMs) =>
    frames.filter((frame) => frame.seconds * 1000 >= startMs && frame.seconds * 1000 < endMs);
  const lumaOf = (frame: FrameSummary) => {
    const [, brightness = 90, text = 0] = contentAt(frame.seconds);
    return Uint8Array.from(
      { length: 96 ** 2 },
      (_, at) => brightness + 60 * Math.sin(at * (text + 1)),
    );
  };
  const readLuma = (chosen: readonly FrameSummary[]) => Promise.resolve(chosen.map(lumaOf));
  return { ...NO_FRAMES, frames: { framesIn, readLuma } };
}

/** A hard cut at each number, a gradual transition at each pair of seconds. */
function transitionsAt(...times: (number | [number, number])[]): Transition[] {
  return times.map((time) =>
    typeof time === "number"
      ? { kind: "cut", from: time - 0.04, to: time }
      : { kind: "gradual", from: time[0], to: time[1] },
  );
}

function lengthsInSeconds(segments: TimeRangeMs[]): number[] {
  return segments.map(({ startMs, endMs }) => (endMs - startMs) / 1000);
}

function expectGapless(segments: TimeRangeMs[], durationMs: number) {
  expect(segments[0]!.startMs).toBe(0);
  expect(segments.at(-1)!.endMs).toBe(durationMs);
  for (const [i, { startMs, endMs }] of segments.entries()) {
    if (i > 0) expect(startMs).toBe(segments[i - 1]!.endMs);
    expect(endMs).toBeGreaterThan(startMs);
  }
}

describe("segmenting a video of one shot", () => {
  it.each([1, 40, 999, 2499, 5000, 7400, 7600, 60_000, 3_600_123])(
    "covers %i ms without gap or overlap",
    async (durationMs) =>
      expectGapless(await segmentVideo(durationMs, NO_FRAMES, NO_LIMIT), durationMs),
  );

  it.each([
    [1000, NO_LIMIT, 1],
    [7400, NO_LIMIT, 1],
    [7600, NO_LIMIT, 2],
    [60_000, NO_LIMIT, 12],
    [60_000, 8, 8],
    [60_000, 0, 1],
  ])("of %i ms with a limit of %i gives %i segments", async (durationMs, maxSegments, count) => {
    expect(await segmentVideo(durationMs, NO_FRAMES, maxSegments)).toHaveLength(count);
  });
});

describe("segmenting a video at its transitions", () => {
  it.each<[title: string, seconds: number, transitions: Transition[], lengths: number[]]>([
    ["makes each shot a segment", 12, transitionsAt(4, 9), [4, 5, 3]],
    ["splits evenly without transitions", 12, [], [6, 6]],
    ["cuts a gradual transition in its middle", 10, transitionsAt([4, 5]), [4.5, 5.5]],
    ["ignores an overlapping transition", 10, transitionsAt([4, 5], 4.96), [4.5, 5.5]],
    ["counts a repeated transition once", 10, transitionsAt(4, 4), [4, 6]],
    ["ignores transitions at or after the end", 10, transitionsAt(4, 10, 10.2), [4, 6]],
    ["sorts the transitions", 12, transitionsAt(9, 4), [4, 5, 3]],
    ["merges a short shot with its shorter neighbour", 10, transitionsAt(6, 6.5), [6, 4]],
    ["merges a short first shot with the second", 10, transitionsAt(0.5, 4), [4, 6]],
    [
      "merges short shots until none is short",
      4,
      transitionsAt(0.5, 1, 1.5, 2, 2.5, 3, 3.5),
      [1, 1, 1, 1],
    ],
    ["merges a video of short shots into one segment", 0.9, transitionsAt(0.3, 0.6), [0.9]],
    ["doesn't split a shot of 20 s", 25, transitionsAt(20), [20, 5]],
    ["splits a longer shot", 29, transitionsAt(25), [8.333, 8.334, 8.333, 4]],
  ])("%s", async (_, seconds, transitions, lengths) => {
    const segments = await segmentVideo(seconds * 1000, { ...NO_FRAMES, transitions }, NO_LIMIT);
    expectGapless(segments, seconds * 1000);
    expect(lengthsInSeconds(segments)).toEqual(lengths);
  });

  it.each([1, 3, 10, 60, 400])(
    "keeps to a limit of %i segments unless they would be too long",
    async (maxSegments) => {
      const times = Array.from({ length: 599 }, (_, i) => i + 1 + (i % 3) / 10);
      const input = { ...NO_FRAMES, transitions: transitionsAt(...times) };
      const segments = await segmentVideo(600_000, input, maxSegments);
      expectGapless(segments, 600_000);
      const atTargetLength = 600 / SHOTS.targetSegmentSeconds;
      expect(segments.length).toBeLessThanOrEqual(Math.max(maxSegments, atTargetLength));
      const longest = Math.max(...lengthsInSeconds(segments));
      expect(longest).toBeLessThanOrEqual(SHOTS.maxSegmentSeconds);
    },
  );

  it("starts a segment in the first millisecond of the shot's first frame", async () => {
    const transitions: Transition[] = [{ kind: "cut", from: 3.9706, to: 4.0042 }];
    const [, second] = await segmentVideo(9000, { ...NO_FRAMES, transitions }, NO_LIMIT);
    expect(second!.startMs).toBe(4005);
  });

  it("keeps to its limits in a video of 12 hours with 86,388 cuts", async () => {
    const hours = 12;
    const times = Array.from({ length: hours * 7199 }, (_, i) => (i + 1) / 2 + (i % 7) / 50);
    const input = { ...NO_FRAMES, transitions: transitionsAt(...times) };
    const segments = await segmentVideo(hours * 3_600_000, input, 6000);
    expectGapless(segments, hours * 3_600_000);
    expect(segments.length).toBeLessThanOrEqual(6000);
    const lengths = lengthsInSeconds(segments);
    expect(Math.min(...lengths)).toBeGreaterThanOrEqual(SHOTS.minShotSeconds);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(SHOTS.maxSegmentSeconds);
  });
});

describe("neighbouring shots", () => {
  const isLate = (seconds: number) => Number(seconds >= 6);
  const isBetween = (seconds: number, start: number, end: number) =>
    Number(seconds >= start && seconds < end);
  it.each<
    [title: string, seconds: number, input: SegmentationInput, cuts: number[], lengths: number[]]
  >([
    ["of one scene are merged", 12, framesOf(12, () => [0]), [6], [12]],
    [
      "of one scene in another light are merged",
      12,
      framesOf(12, (s) => [0, 90 + 60 * isLate(s)]),
      [6],
      [12],
    ],
    [
      "of one scene before and after a short shot are merged",
      12,
      framesOf(12, (s) => [5 * isBetween(s, 6, 7)]),
      [6, 6.9],
      [12],
    ],
    [
      "of one scene with another shot between them aren't merged",
      12,
      framesOf(12, (s) => [5 * isBetween(s, 4, 8)]),
      [4, 8],
      [4, 4, 4],
    ],
    [
      "of one scene aren't merged into a segment that is too long",
      24,
      framesOf(24, () => [0]),
      [8, 19],
      [19, 5],
    ],
    ["of different scenes aren't merged", 12, framesOf(12, (s) => [isLate(s)]), [6], [6, 6]],
    ["of different text aren't merged", 12, framesOf(12, (s) => [0, 90, isLate(s)]), [6], [6, 6]],
    ["without sampled frames aren't merged", 12, NO_FRAMES, [6], [6, 6]],
  ])("%s", async (_, seconds, input, cuts, lengths) => {
    const transitions = transitionsAt(...cuts);
    const segments = await segmentVideo(seconds * 1000, { ...input, transitions }, NO_LIMIT);
    expectGapless(segments, seconds * 1000);
    expect(lengthsInSeconds(segments)).toEqual(lengths);
  });
});

it("the same video gets the same segment ids every time", async () => {
  const asset = { assetId: "vid_01M7YVA35XVZYVST8536XZAMNP", indexId: "ind_1" } as Asset;
  const ranges = (await segmentVideo(10_000, NO_FRAMES, NO_LIMIT)).map(({ startMs, endMs }) => {
    return { startMs, endMs, keyframeMs: startMs };
  });
  const segments = await toSegments(asset, ranges);
  expect(await toSegments(asset, ranges)).toEqual(segments);
  for (const { segmentId } of segments) {
    expect(segmentId).toMatch(/^seg_01M7YVA35X[0-9A-HJKMNP-TV-Z]{16}$/);
  }
});
