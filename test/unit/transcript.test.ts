import { describe, expect, it } from "vitest";
import { spreadCues, timeCues, voiceOf, wordsWithin } from "../../src/ingest/transcript.ts";

const cue = (start: number, end: number, text = "x") => ({ start, end, text });
const plain = (...texts: string[]) => texts.map((text) => cue(NaN, NaN, text));

describe("words without times", () => {
  it("are spread by their length", () => {
    expect(spreadCues(plain("aaaa", "bb", "cc"), 8)).toEqual([
      cue(0, 4, "aaaa"),
      cue(4, 6, "bb"),
      cue(6, 8, "cc"),
    ]);
  });

  it("come where someone speaks, as fast", () => {
    const voice = [
      { start: 2, end: 6, share: 40 },
      { start: 10, end: 12, share: 20 },
      { start: 20, end: 30, share: 20 },
    ];
    expect(timeCues(plain("aaaa", "bb", "c", "d"), voice)).toEqual([
      cue(2, 6, "aaaa"),
      cue(10, 12, "bb"),
      cue(20, 25, "c"),
      cue(25, 30, "d"),
    ]);
    expect(timeCues(plain("aaaaaa", "bb"), voice)).toEqual([
      cue(2, 12, "aaaaaa"),
      cue(20, 30, "bb"),
    ]);
  });

  it("take all of the time and stay in order, whatever the pauses", () => {
    const voice = Array.from({ length: 30 }, (_, i) => {
      return { start: i * 3.1, end: i * 3.1 + 0.7, share: 1 + (i % 7) };
    });
    const texts = Array.from({ length: 47 }, (_, i) => "w".repeat(1 + (i % 9)));
    const cues = timeCues(plain(...texts), voice);
    expect(cues[0]!.start).toBe(0);
    expect(cues.at(-1)!.end).toBeCloseTo(29 * 3.1 + 0.7);
    for (const [i, { start, end }] of cues.entries()) {
      expect(end).toBeGreaterThan(start);
      if (i > 0) expect(start).toBeGreaterThanOrEqual(cues[i - 1]!.end - 1e-5);
    }
  });

  it("have the times of the same words with times", () => {
    const heard = Array.from({ length: 200 }, (_, i) => {
      return cue(i * 3 + (i % 5) / 10, i * 3 + 2 + (i % 7) / 10, "w".repeat(3 + (i % 11)));
    });
    const timed = timeCues(plain(...heard.map(({ text }) => text)), voiceOf(heard));
    for (const [i, { start, end }] of timed.entries()) {
      expect(start).toBeCloseTo(heard[i]!.start, 5);
      expect(end).toBeCloseTo(heard[i]!.end, 5);
    }
  });

  it("leave cues with times as they are", () => {
    const timed = [cue(1, 2)];
    expect(timeCues(timed, [])).toBe(timed);
  });
});

it("what was heard is in order and doesn't overlap", () => {
  expect(voiceOf([cue(5, 7, "ab"), cue(0, 2), cue(1, 3, "abc"), cue(6, 6.5), cue(9, 9)])).toEqual([
    { start: 0, end: 2, share: 1 },
    { start: 2, end: 3, share: 3 },
    { start: 5, end: 7, share: 2 },
  ]);
});

describe("cues over a video", () => {
  it("end with it", () => {
    expect(spreadCues([cue(8, 30), cue(12, 20)], 10)).toEqual([cue(8, 10), cue(12, 12)]);
  });

  it("are on one line", () => {
    expect(spreadCues([cue(0, 2, "- Hi.\n- Hello.")], 10)).toEqual([cue(0, 2, "- Hi. - Hello.")]);
  });

  it("that are long come sentence by sentence", () => {
    const text = "Aaaaaaaa. Bbb. Cccccc.";
    expect(spreadCues([cue(10, 30, text)], 60)).toEqual([
      cue(10, 19, "Aaaaaaaa."),
      cue(19, 23, "Bbb."),
      cue(23, 30, "Cccccc."),
    ]);
    expect(spreadCues([cue(10, 20, text)], 60)).toEqual([cue(10, 20, text)]);
  });
});

it("a cue belongs to the stretch that holds its middle", () => {
  const cues = [cue(1, 2.5, "Hello there"), cue(3, 4, "bye"), cue(3.9, 4.3, "now"), cue(9, 9, "!")];
  const spans = [
    { start: 0, end: 2 },
    { start: 2, end: 4 },
    { start: 4, end: 8 },
  ];
  expect(wordsWithin(cues, spans)).toEqual(["Hello there", "bye", "now"]);
  expect(wordsWithin([], spans)).toEqual(["", "", ""]);
  const much = wordsWithin([cue(0, 1, "word ".repeat(10_000))], spans);
  expect(much[0]).toHaveLength(20_000);
});
