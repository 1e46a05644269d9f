import { describe, expect, it } from "vitest";
import {
  type Edit,
  type PartExtent,
  combineParts,
  rangeInSpan,
  type Span,
  spanAt,
  spansIn,
  streamRange,
  toPresentationTime,
  toStreamTime,
  type TrackExtent,
} from "../../../../src/media/container/timeline.ts";

const track = (first: number, end: number, edits: Edit[] = []): TrackExtent => {
  return { first, end, promisedEnd: end, edits };
};
const edit = (duration: number, streamStart: number | null, rate = 1): Edit => {
  return { duration, streamStart, rate };
};
const part = (
  video: TrackExtent | null,
  audio: TrackExtent | null = null,
  continuesClock = false,
): PartExtent => ({ video, audio, continuesClock });

/** A span as `start–end ← streamStart`, with its rate unless that is 1. */
const describeSpan = ({ start, end, streamStart, rate }: Span) => {
  const round = (seconds: number) => Math.round(seconds * 1000) / 1000;
  const suffix = rate === 1 ? "" : ` ×${rate}`;
  return `${round(start)}–${round(end)} ← ${round(streamStart)}${suffix}`;
};

interface Case {
  parts: PartExtent[];
  video: string[];
  audio?: string[];
  seconds: number;
}

describe("the presentation of", () => {
  it.each<[string, Case]>([
    [
      "a file that starts at zero",
      { parts: [part(track(0, 12))], video: ["0–12 ← 0"], seconds: 12 },
    ],
    [
      "a file that starts at 1,000 s",
      { parts: [part(track(1000, 1012))], video: ["0–12 ← 1000"], seconds: 12 },
    ],
    [
      "a file whose clock is about to overflow",
      { parts: [part(track(-4.3, 7.7))], video: ["0–12 ← -4.3"], seconds: 12 },
    ],
    [
      "audio that an encoder has padded",
      {
        parts: [part(track(1.4, 13.4), track(1.377, 13.405))],
        video: ["0–12 ← 1.4"],
        audio: ["0–12 ← 1.4"],
        seconds: 12,
      },
    ],
    [
      "audio that begins before the picture",
      {
        parts: [part(track(5, 12), track(0, 12))],
        video: ["5–12 ← 5"],
        audio: ["0–12 ← 0"],
        seconds: 12,
      },
    ],
    [
      "audio that begins after the picture",
      {
        parts: [part(track(100, 112), track(102, 112))],
        video: ["0–12 ← 100"],
        audio: ["2–12 ← 102"],
        seconds: 12,
      },
    ],
    [
      "speech after the last picture",
      {
        parts: [part(track(0, 6), track(0, 30))],
        video: ["0–6 ← 0"],
        audio: ["0–30 ← 0"],
        seconds: 30,
      },
    ],
    [
      "pictures after the last sound",
      {
        parts: [part(track(0, 30), track(0, 6))],
        video: ["0–30 ← 0"],
        audio: ["0–6 ← 0"],
        seconds: 30,
      },
    ],
    [
      "a track without frames",
      { parts: [part(track(0, 0), track(0, 3))], video: [], audio: ["0–3 ← 0"], seconds: 3 },
    ],
    [
      "a trimmed end",
      { parts: [part(track(0, 12, [edit(5, 0)]))], video: ["0–5 ← 0"], seconds: 5 },
    ],
    [
      "a trimmed beginning",
      { parts: [part(track(-4, 8, [edit(8, 0)]))], video: ["0–8 ← 0"], seconds: 8 },
    ],
    [
      "an edit without a duration",
      { parts: [part(track(0, 12, [edit(0, 0)]))], video: ["0–12 ← 0"], seconds: 12 },
    ],
    [
      "an edit that is longer than the stream",
      { parts: [part(track(0, 12, [edit(90, 2)]))], video: ["0–10 ← 2"], seconds: 10 },
    ],
    [
      "two edits",
      {
        parts: [part(track(0, 12, [edit(3, 0), edit(3, 6)]))],
        video: ["0–3 ← 0", "3–6 ← 6"],
        seconds: 6,
      },
    ],
    [
      "edits in another order, with a repetition",
      {
        parts: [part(track(0, 12, [edit(2, 8), edit(2, 0), edit(2, 8)]))],
        video: ["0–2 ← 8", "2–4 ← 0", "4–6 ← 8"],
        seconds: 6,
      },
    ],
    [
      "a delayed track",
      {
        parts: [part(track(0, 10), track(2, 10, [edit(2, null), edit(8, 2)]))],
        video: ["0–10 ← 0"],
        audio: ["2–10 ← 2"],
        seconds: 10,
      },
    ],
    [
      "a pause between two edits",
      {
        parts: [part(track(0, 12, [edit(3, 0), edit(2, null), edit(3, 6)]))],
        video: ["0–3 ← 0", "5–8 ← 6"],
        seconds: 8,
      },
    ],
    [
      "a still and double speed",
      {
        parts: [part(track(0, 12, [edit(4, 1, 0), edit(3, 2, 2)]))],
        video: ["0–4 ← 1 ×0", "4–7 ← 2 ×2"],
        seconds: 7,
      },
    ],
    [
      "an edit list that shows nothing",
      { parts: [part(track(0, 12, [edit(5, 20)]))], video: ["0–12 ← 0"], seconds: 12 },
    ],
    [
      "recordings that were joined",
      {
        parts: [part(track(1.4, 6.4), track(1.38, 6.4)), part(track(900, 907), track(899.98, 907))],
        video: ["0–5 ← 1.4", "5–12 ← 900"],
        audio: ["0–5 ← 1.4", "4.98–12 ← 899.98"],
        seconds: 12,
      },
    ],
    [
      "a file whose middle is missing",
      {
        parts: [part(track(10, 14)), part(track(16, 22), null, true)],
        video: ["0–4 ← 10", "6–12 ← 16"],
        seconds: 12,
      },
    ],
  ])("%s", (_, { parts, video, audio = [], seconds }) => {
    const presentation = combineParts(parts);
    expect(presentation.video.map(describeSpan)).toEqual(video);
    expect(presentation.audio.map(describeSpan)).toEqual(audio);
    expect(presentation.durationSeconds).toBeCloseTo(seconds, 6);
  });
});

describe("times of two spans with a gap", () => {
  const spans: Span[] = [
    { part: 0, start: 0, end: 3, streamStart: 100, rate: 1 },
    { part: 1, start: 5, end: 8, streamStart: 40, rate: 2 },
  ];

  it.each([
    [-1, 100],
    [0, 100],
    [2.5, 102.5],
    [4, 102.9999], // the last frame stays on screen
    [5, 40],
    [7, 44],
    [90, 45.9998],
  ])("%d s is %d s of its stream", (seconds, streamSeconds) => {
    expect(toStreamTime(spanAt(spans, seconds)!, seconds)).toBeCloseTo(streamSeconds, 6);
  });

  it.each([
    [0, 100, 0],
    [0, 99, 0], // on screen as the span begins
    [0, 101, 1],
    [1, 44, 7],
    [1, 60, 8],
  ])("of span %d, %d s of its stream is %d s", (span, streamSeconds, seconds) => {
    expect(toPresentationTime(spans[span]!, streamSeconds)).toBeCloseTo(seconds, 6);
  });

  it.each([
    [{ start: 1, end: 2 }, ["100"]],
    [{ start: 1, end: 6 }, ["100", "40"]],
    [{ start: 3, end: 5 }, []],
    [{ start: 3, end: 6 }, ["40"]],
  ])("%j shows the spans from %j", (range, starts) => {
    expect(spansIn(spans, range).map(({ streamStart }) => String(streamStart))).toEqual(starts);
  });

  it("a range that goes on after a span takes all of its rest", () => {
    expect(rangeInSpan(spans[0]!, { start: 1, end: 9 })).toEqual({ start: 101, end: 103 });
    expect(rangeInSpan(spans[1]!, { start: 1, end: 6 })).toEqual({ start: 40, end: 42 });
  });

  it("a part is read where the range shows it", () => {
    const range = { start: 2, end: 6 };
    expect(streamRange(spans, 0, range)).toEqual({ start: 102, end: expect.closeTo(103, 3) });
    expect(streamRange(spans, 1, range)).toEqual({ start: 40, end: 42 });
    expect(streamRange(spans, 1, { start: 0, end: 1 })).toBeNull();
  });
});

it("without spans nothing is on screen", () => {
  expect(spanAt([], 3)).toBeUndefined();
});
