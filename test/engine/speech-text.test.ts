import { describe, expect, it } from "vitest";
import { countOverlapSeconds, countWordErrors, listStartOffsets } from "../../bench/transcript.ts";
import {
  splitRanges,
  groupRanges,
  concatSamples,
  toAudioRange,
} from "../../local/engine/speech-chunks.ts";
import { dropHallucinations } from "../../local/engine/speech-clean.ts";
import { readWords } from "../../local/engine/speech-pocketsphinx.ts";
import { readSegments } from "../../local/engine/speech-whisper.ts";

const range = (start: number, end: number) => ({ start, end });

describe("speech chunks", () => {
  it("contain the ranges that fit, with shortened silence between them", () => {
    const ranges = [range(1, 4), range(4.2, 6), range(20, 25), range(40, 49)];
    expect(groupRanges(ranges, 12)).toEqual([
      {
        parts: [
          { ...range(1, 4), at: 0 },
          { ...range(4.2, 6), at: expect.closeTo(3.2) },
          { ...range(20, 25), at: expect.closeTo(5.5) },
        ],
        seconds: expect.closeTo(10.5),
      },
      { parts: [{ ...range(40, 49), at: 0 }], seconds: 9 },
    ]);
    expect(groupRanges([], 12)).toEqual([]);
  });

  it("contain exactly the samples of their ranges", () => {
    const samples = Float32Array.from({ length: 64_000 }, (_, at) => Math.floor(at / 16_000) + 1);
    const [chunk] = groupRanges([range(0.5, 1), range(3, 3.5)], 12);
    const chunkSamples = concatSamples(samples, chunk!);
    expect([
      chunkSamples.length,
      chunkSamples[0],
      chunkSamples[8_000],
      chunkSamples[16_000],
    ]).toEqual([24_000, 1, 0, 4]);
  });

  it("split a range that is too long at its quietest point", () => {
    const samples = new Float32Array(16_000 * 60).fill(0.5).fill(0, 16_000 * 24, 16_000 * 24.3);
    const [first, second, third] = splitRanges(samples, [range(0, 60)], 28);
    expect(first).toEqual({ start: 0, end: expect.closeTo(24.15, 0) });
    expect(second?.start).toBe(first?.end);
    expect(third).toEqual({ start: second?.end, end: 60 });
    expect(splitRanges(samples, [range(0, 28)], 28)).toEqual([range(0, 28)]);
  });

  it.each<[number, number, [number, number] | null]>([
    [0, 2, [10, 12]],
    [1, 5, [11, 21.5]],
    [3.5, 5.5, [20, 22]],
    [2, 3.4, [12, 13]],
    [3.1, 3.4, null],
    [4, 30, [20.5, 22]],
    [6, 7, null],
  ])("map the range from %s to %s s to the audio", (start, end, expected) => {
    const [chunk] = groupRanges([range(10, 13), range(20, 22)], 12);
    const audioRange = toAudioRange(chunk!, { start, end });
    expect(audioRange && [audioRange.start, audioRange.end]).toEqual(expected);
  });
});

describe("the output of Whisper's filter", () => {
  it("is parsed to segments at their times, with quotes in the text", () => {
    const chunks = groupRanges([range(10, 13), range(100, 120)], 21);
    const lines = [
      '{"start":0,"end":2500,"text":"He said "no"."}',
      '{"start":4000,"end":9000,"text":"Nobody spoke here."}',
      '{"start":61500,"end":63000,"text":" Übrigens. "}',
      '{"start":180000,"end":181000,"text":"There is no such chunk."}',
      "not a JSON line",
      "",
    ];
    expect(readSegments(lines.join("\n"), chunks)).toEqual([
      { ...range(10, 12.5), text: 'He said "no".', words: [] },
      { ...range(101.5, 103), text: "Übrigens.", words: [] },
    ]);
  });

  it.each<[string, string[], string[]]>([
    ["sound tags", ["[MUSIC]", "(applause)", "*sighs*", "♪♪", "...", ""], []],
    ["sound tags beside speech", ["[door] Come in. (laughs)"], ["Come in."]],
    [
      "the third repetition of a sentence",
      ["No.", "no!", "No", "Yes.", "No."],
      ["No.", "no!", "Yes.", "No."],
    ],
    ["loops", [`and then ${"I said that ".repeat(20)}`], []],
    [
      "nothing in ordinary sentences",
      ["We went to the 3 shops on Main Street.", "東京です。"],
      ["We went to the 3 shops on Main Street.", "東京です。"],
    ],
  ])("is cleaned of hallucinations: %s", (_, texts, expected) => {
    const segments = texts.map((text, at) => ({ ...range(at, at + 1), text, words: [] }));
    expect(dropHallucinations(segments).map(({ text }) => text)).toEqual(expected);
  });
});

describe("the output of pocketsphinx", () => {
  it("is parsed to one segment per range, without noise, fillers and words in pauses", () => {
    const lines = `
0 1 0.10 0.30 the 0.731
0 1 0.40 0.40 a(2) 1.001
0 1 0.80 0.10 <sil> 0.9
0 1 0.90 0.10 [NOISE] 0.5
0 1 1.00 0.10 ++UM++ 0.5
0 1 1.80 0.20 pause 0.2
0 1 2.60 0.30 Dog's 0.5
1 1 0.00 0.50 end(3) 0.25
7 1 0.00 0.50 nowhere 0.25
`;
    const segments = readWords(
      lines,
      [range(10, 14), range(30.007, 31)],
      [range(10, 11.5), range(12.3, 14), range(30.007, 31)],
    );
    expect(segments.map(({ text }) => text)).toEqual(["the a", "dog's", "end"]);
    expect(segments[0]).toEqual({
      start: expect.closeTo(10.1),
      end: expect.closeTo(10.8),
      text: "the a",
      words: [
        { word: "the", start: expect.closeTo(10.1), end: expect.closeTo(10.4), score: 0.731 },
        { word: "a", start: expect.closeTo(10.4), end: expect.closeTo(10.8), score: 1 },
      ],
    });
    expect(segments[2]).toMatchObject({ start: 30, end: 30.5 });
    expect(readWords("", [], [])).toEqual([]);
  });
});

describe("the word errors of a transcript", () => {
  it.each<[string, string, number, number]>([
    ["", "", 0, 0],
    ["And so, my fellow Americans!", "and so my fellow americans", 0, 5],
    ["It’s snow-covered.", "it's snow covered", 0, 3],
    ["one two three", "", 3, 3],
    ["", "one two", 2, 0],
    ["one two three", "one three", 1, 3],
    ["one three", "one two three", 1, 2],
    ["one two three four", "two three for you", 3, 4],
    ["2 dogs", "two dogs", 1, 2],
  ])("for %j recognised as %j are %i of %i words", (reference, hypothesis, errors, words) => {
    expect(countWordErrors(reference, hypothesis)).toEqual({
      errorCount: errors,
      wordCount: words,
    });
  });
});

describe("the timing accuracy of a transcript", () => {
  it("is measured by the overlap in seconds and by the offsets of starts", () => {
    const [truth, found] = [
      [range(0, 4), range(6, 8)],
      [range(1, 2), range(3, 7)],
    ];
    expect(countOverlapSeconds(truth, found)).toBe(3);
    expect(countOverlapSeconds(truth, [])).toBe(0);
    expect(listStartOffsets(truth, found)).toEqual([1, 3]);
  });
});
