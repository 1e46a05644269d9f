import { describe, expect, it } from "vitest";
import {
  splitLongCues,
  assignCueTimes,
  speechIntervals,
  textByRange,
} from "../../../../src/ingest/transcript/cue-times.ts";

const cue = (start: number, end: number, text = "x") => ({ start, end, text });
const untimed = (...texts: string[]) => texts.map((text) => cue(NaN, NaN, text));

describe("cues without times", () => {
  it("are distributed by their length", () => {
    expect(splitLongCues(untimed("aaaa", "bb", "cc"), 8)).toEqual([
      cue(0, 4, "aaaa"),
      cue(4, 6, "bb"),
      cue(6, 8, "cc"),
    ]);
  });

  it("follow the speech intervals and their pace", () => {
    const intervals = [
      { start: 2, end: 6, weight: 40 },
      { start: 10, end: 12, weight: 20 },
      { start: 20, end: 30, weight: 20 },
    ];
    expect(assignCueTimes(untimed("aaaa", "bb", "c", "d"), intervals)).toEqual([
      cue(2, 6, "aaaa"),
      cue(10, 12, "bb"),
      cue(20, 25, "c"),
      cue(25, 30, "d"),
    ]);
    expect(assignCueTimes(untimed("aaaaaa", "bb"), intervals)).toEqual([
      cue(2, 12, "aaaaaa"),
      cue(20, 30, "bb"),
    ]);
  });

  it("fill all intervals and stay in order, whatever the pauses", () => {
    const intervals = Array.from({ length: 30 }, (_, i) => {
      return { start: i * 3.1, end: i * 3.1 + 0.7, weight: 1 + (i % 7) };
    });
    const texts = Array.from({ length: 47 }, (_, i) => "w".repeat(1 + (i % 9)));
    const cues = assignCueTimes(untimed(...texts), intervals);
    expect(cues[0]!.start).toBe(0);
    expect(cues.at(-1)!.end).toBeCloseTo(29 * 3.1 + 0.7);
    for (const [i, { start, end }] of cues.entries()) {
      expect(end).toBeGreaterThan(start);
      if (i > 0) expect(start).toBeGreaterThanOrEqual(cues[i - 1]!.end - 1e-5);
    }
  });

  it("get the times of the same text with times", () => {
    const spoken = Array.from({ length: 200 }, (_, i) => {
      return cue(i * 3 + (i % 5) / 10, i * 3 + 2 + (i % 7) / 10, "w".repeat(3 + (i % 11)));
    });
    const timed = assignCueTimes(
      untimed(...spoken.map(({ text }) => text)),
      speechIntervals(spoken),
    );
    for (const [i, { start, end }] of timed.entries()) {
      expect(start).toBeCloseTo(spoken[i]!.start, 5);
      expect(end).toBeCloseTo(spoken[i]!.end, 5);
    }
  });

  it("with times stay as they are", () => {
    const timed = [cue(1, 2)];
    expect(assignCueTimes(timed, [])).toBe(timed);
  });
});

it("speech intervals are in order and don't overlap", () => {
  expect(
    speechIntervals([cue(5, 7, "ab"), cue(0, 2), cue(1, 3, "abc"), cue(6, 6.5), cue(9, 9)]),
  ).toEqual([
    { start: 0, end: 2, weight: 1 },
    { start: 2, end: 3, weight: 3 },
    { start: 5, end: 7, weight: 2 },
  ]);
});

describe("cues for the segments of a video", () => {
  it("end with the video", () => {
    expect(splitLongCues([cue(8, 30), cue(12, 20)], 10)).toEqual([cue(8, 10), cue(12, 12)]);
  });

  it("have one line", () => {
    expect(splitLongCues([cue(0, 2, "- Hi.\n- Hello.")], 10)).toEqual([
      cue(0, 2, "- Hi. - Hello."),
    ]);
  });

  it("that are long are split into sentences", () => {
    const text = "Aaaaaaaa. Bbb. Cccccc.";
    expect(splitLongCues([cue(10, 30, text)], 60)).toEqual([
      cue(10, 19, "Aaaaaaaa."),
      cue(19, 23, "Bbb."),
      cue(23, 30, "Cccccc."),
    ]);
    expect(splitLongCues([cue(10, 20, text)], 60)).toEqual([cue(10, 20, text)]);
  });
});

it("a cue belongs to the range that contains its middle", () => {
  const cues = [cue(1, 2.5, "Hello there"), cue(3, 4, "bye"), cue(3.9, 4.3, "now"), cue(9, 9, "!")];
  const ranges = [
    { start: 0, end: 2 },
    { start: 2, end: 4 },
    { start: 4, end: 8 },
  ];
  expect(textByRange(cues, ranges)).toEqual(["Hello there", "bye", "now"]);
  expect(textByRange([], ranges)).toEqual(["", "", ""]);
  const long = textByRange([cue(0, 1, "word ".repeat(10_000))], ranges);
  expect(long[0]).toHaveLength(20_000);
});
