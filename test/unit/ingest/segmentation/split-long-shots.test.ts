import { describe, expect, it } from "vitest";
import { findSilences, splitLongShot } from "../../../../src/ingest/segmentation.ts";
import { SHOTS } from "../../../../src/parameters.ts";
import type { TimeRangeMs } from "../../../../src/time-range.ts";
import type { FrameSummary } from "../../../../src/types.ts";

const SHOT: TimeRangeMs = { startMs: 100_000, endMs: 130_000 };
const SEGMENT_COUNT = 3;

/**
 * Samples two frames a second of the shot, each of one luma level, by the seconds into the shot.
 */
function framesOf(lumaAt: (seconds: number) => number): FrameSummary[] {
  return Array.from({ length: 60 }, (_, i): FrameSummary => {
    const lumaThumbnail = btoa(String.fromCharCode(Math.round(lumaAt(i / 2))));
    return { seconds: 100 + i / 2, sharpness: 1, lumaThumbnail };
  });
}

/** Splits the shot and returns the boundaries, in seconds into the shot. Silences are, too. */
function splitBoundaries(frames: FrameSummary[], silences: [start: number, end: number][] = []) {
  const silenceRanges = silences.map(([start, end]): TimeRangeMs => {
    return { startMs: SHOT.startMs + start * 1000, endMs: SHOT.startMs + end * 1000 };
  });
  const segments = splitLongShot(SHOT, SEGMENT_COUNT, frames, silenceRanges);
  expect(segments).toHaveLength(SEGMENT_COUNT);
  expect(segments[0]!.startMs).toBe(SHOT.startMs);
  expect(segments.at(-1)!.endMs).toBe(SHOT.endMs);
  return segments.slice(1).map(({ startMs }, i) => {
    expect(startMs).toBe(segments[i]!.endMs);
    return (startMs - SHOT.startMs) / 1000;
  });
}

const staticFrames = framesOf(() => 80);
const movingFrames = framesOf((seconds) => (seconds % 1 === 0 ? 60 : 100));
/** Frames with motion except from `start` to `end`. */
const framesWithPause = (start: number, end: number) =>
  framesOf((seconds) => (seconds >= start && seconds <= end ? 77 : (seconds % 1) * 20 + 60));
const framesWithChange = (changeAt: number) =>
  framesOf((seconds) => (seconds < changeAt ? 60 : 90));

describe("splitting a long shot", () => {
  it.each<
    [title: string, boundaries: number[], frames: FrameSummary[], silences?: [number, number][]]
  >([
    ["is even without motion", [10, 20], staticFrames],
    ["is even in motion throughout", [10, 20], movingFrames],
    ["is even without sampled frames", [10, 20], []],
    ["takes a pause in the motion", [8.5, 20], framesWithPause(8, 9)],
    ["takes a change between two frames", [12, 20], framesWithChange(12)],
    ["ignores a change beyond the tolerance", [10, 20], framesWithChange(14)],
    ["takes a frame in a silence", [11.5, 20], staticFrames, [[11.3, 11.7]]],
    ["takes the middle of a silence without a frame", [11.3, 20], staticFrames, [[11.2, 11.4]]],
    [
      "takes the longer of two silences",
      [8.5, 20],
      staticFrames,
      [
        [8, 8.8],
        [11, 11.5],
      ],
    ],
    [
      "takes the nearer of two equal silences",
      [9, 20],
      staticFrames,
      [
        [9, 9],
        [12, 12],
      ],
    ],
    ["takes the point where two cues touch", [9.123, 20], staticFrames, [[9.123, 9.123]]],
    ["takes a pause in the motion during silence", [8.5, 20], framesWithPause(8, 9), [[0, 30]]],
    ["prefers a change to a silence", [12, 20], framesWithChange(12), [[8, 9]]],
    [
      "ignores silences beyond the tolerance",
      [10, 20],
      staticFrames,
      [
        [0, 7],
        [13, 17],
        [23, 30],
      ],
    ],
  ])("%s", (_, expected, frames, silences) => {
    expect(splitBoundaries(frames, silences)).toEqual(expected);
  });

  it("keeps every boundary within the tolerance", () => {
    const tolerance = SHOTS.splitTolerance * SHOTS.targetSegmentSeconds;
    for (const at of [7.6, 8, 9, 11, 12, 12.4]) {
      const [first, second] = splitBoundaries(framesWithChange(Math.round(at * 2) / 2), [
        [at, at],
        [at + 10, at + 10],
      ]);
      expect(Math.abs(first! - 10)).toBeLessThanOrEqual(tolerance);
      expect(Math.abs(second! - 20)).toBeLessThanOrEqual(tolerance);
    }
  });

  it("into one segment returns the shot", () => {
    expect(splitLongShot(SHOT, 1, staticFrames, [])).toEqual([SHOT]);
  });
});

describe("silences", () => {
  it.each<[cues: [start: number, end: number][], silences: [number, number][]]>([
    [[], []],
    [
      [[2, 4]],
      [
        [0, 2],
        [4, 10],
      ],
    ],
    [
      [
        [0, 4],
        [4, 10],
      ],
      [
        [0, 0],
        [4, 4],
      ],
    ],
    [
      [
        [1, 6],
        [2, 3],
        [7, 8],
      ],
      [
        [0, 1],
        [6, 7],
        [8, 10],
      ],
    ],
    [
      [
        [7, 8],
        [1, 2],
      ],
      [
        [0, 1],
        [2, 7],
        [8, 10],
      ],
    ],
    [[[9, 12]], [[0, 9]]],
    [[[11, 12]], [[0, 10]]],
  ])("of a video of 10 s with the cues %j are %j", (times, expected) => {
    const cues = times.map(([start, end]) => ({ start, end, text: "word" }));
    const silences = findSilences(cues, 10_000).map(({ startMs, endMs }) => [
      startMs / 1000,
      endMs / 1000,
    ]);
    expect(silences).toEqual(expected);
  });
});
