import { describe, expect, it } from "vitest";
import {
  isPresented,
  presentTracks,
  toPresentationTime,
  toStreamRange,
  toStreamTime,
  type TrackExtent,
} from "../../../../src/media/container/timeline.ts";
import type { TimeRange } from "../../../../src/time-range.ts";

const track = (first: number, end: number, edit: TimeRange | null = null): TrackExtent => {
  return { first, end, edit };
};

/** A range of the presentation and of the stream: `start–end ← streamStart`. */
const describeRange = (range: TimeRange | null, origin: number) => {
  const round = (seconds: number) => Math.round(seconds * 1000) / 1000;
  if (!range) return null;
  return `${round(range.start)}–${round(range.end)} ← ${round(range.start + origin)}`;
};

interface Case {
  tracks: [video: TrackExtent | null, audio?: TrackExtent];
  video?: string | null;
  audio?: string | null;
  seconds: number;
}

describe("the presentation of", () => {
  it.each<[string, Case]>([
    ["a file that starts at zero", { tracks: [track(0, 12)], video: "0–12 ← 0", seconds: 12 }],
    [
      "a file that starts at 1,000 s",
      { tracks: [track(1000, 1012)], video: "0–12 ← 1000", seconds: 12 },
    ],
    [
      "a file whose clock is about to overflow",
      { tracks: [track(-4.3, 7.7)], video: "0–12 ← -4.3", seconds: 12 },
    ],
    [
      "audio that an encoder has padded",
      {
        tracks: [track(1.4, 13.4), track(1.377, 13.405)],
        video: "0–12 ← 1.4",
        audio: "0–12 ← 1.4",
        seconds: 12,
      },
    ],
    [
      "audio that begins before the picture",
      {
        tracks: [track(5, 12), track(0, 12)],
        video: "5–12 ← 5",
        audio: "0–12 ← 0",
        seconds: 12,
      },
    ],
    [
      "audio that begins after the picture",
      {
        tracks: [track(100, 112), track(102, 112)],
        video: "0–12 ← 100",
        audio: "2–12 ← 102",
        seconds: 12,
      },
    ],
    [
      "speech after the last picture",
      { tracks: [track(0, 6), track(0, 30)], video: "0–6 ← 0", audio: "0–30 ← 0", seconds: 30 },
    ],
    [
      "pictures after the last sound",
      { tracks: [track(0, 30), track(0, 6)], video: "0–30 ← 0", audio: "0–6 ← 0", seconds: 30 },
    ],
    [
      "a track without frames",
      { tracks: [track(0, 0), track(0, 3)], video: null, audio: "0–3 ← 0", seconds: 3 },
    ],
    [
      "a trimmed end",
      { tracks: [track(0, 12, { start: 0, end: 5 })], video: "0–5 ← 0", seconds: 5 },
    ],
    [
      "a trimmed beginning",
      { tracks: [track(-4, 8, { start: 0, end: 8 })], video: "0–8 ← 0", seconds: 8 },
    ],
    [
      "an edit without a duration",
      { tracks: [track(0, 12, { start: 0, end: Infinity })], video: "0–12 ← 0", seconds: 12 },
    ],
    [
      "an edit that is longer than the stream",
      { tracks: [track(0, 12, { start: 2, end: 90 })], video: "0–10 ← 2", seconds: 10 },
    ],
    [
      "a delayed track",
      {
        tracks: [track(0, 10), track(2, 10, { start: 2, end: 10 })],
        video: "0–10 ← 0",
        audio: "2–10 ← 2",
        seconds: 10,
      },
    ],
    [
      "an edit list that shows nothing",
      { tracks: [track(0, 12, { start: 20, end: 25 })], video: "0–12 ← 0", seconds: 12 },
    ],
  ])("%s", (_, { tracks: [pictures, sound = null], seconds, ...expected }) => {
    const { origin, video, audio, durationSeconds } = presentTracks(pictures, sound);
    expect(describeRange(video, origin)).toBe(expected.video ?? null);
    expect(describeRange(audio, origin)).toBe(expected.audio ?? null);
    expect(durationSeconds).toBeCloseTo(seconds, 6);
  });
});

describe("times of a track from 5 to 8 s whose stream begins at 105 s", () => {
  const times = { start: 5, end: 8, origin: 100 };

  it.each([
    [-1, 105],
    [5, 105],
    [7, 107],
    [8, 107.9999], // the last frame stays on screen
    [90, 107.9999],
  ])("%d s is %d s of its stream", (seconds, streamSeconds) => {
    expect(toStreamTime(times, seconds)).toBeCloseTo(streamSeconds, 6);
  });

  it.each([
    [104, 5], // on screen as the track begins
    [106, 6],
    [160, 8],
  ])("%d s of its stream is %d s", (streamSeconds, seconds) => {
    expect(toPresentationTime(times, streamSeconds)).toBeCloseTo(seconds, 6);
  });

  it.each([
    [{ start: 6, end: 7 }, true],
    [{ start: 0, end: 5 }, false],
    [{ start: 8, end: 9 }, false],
    [{ start: 7, end: 9 }, true],
  ])("%j shows something of it: %s", (range, isShown) => {
    expect(isPresented(times, range)).toBe(isShown);
  });

  it("a range that goes on after it takes all of its rest", () => {
    expect(toStreamRange(times, { start: 6, end: 9 })).toEqual({ start: 106, end: 108 });
    expect(toStreamRange(times, { start: 9, end: 10 })).toEqual({
      start: expect.closeTo(107.9999, 6),
      end: 108,
    });
  });
});
