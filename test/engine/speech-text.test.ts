import { describe, expect, it } from "vitest";
import { countShared, countWordErrors, listOffsets } from "../../bench/transcript.ts";
import { dropInvented } from "../../local/engine/speech-clean.ts";
import { readWords } from "../../local/engine/speech-pocketsphinx.ts";
import { cutSpans, groupSpans, joinSamples, toSound } from "../../local/engine/speech-stretches.ts";
import { readSegments } from "../../local/engine/speech-whisper.ts";

const span = (start: number, end: number) => ({ start, end });

describe("stretches", () => {
  it("hold the spans that fit, with short silences", () => {
    const spans = [span(1, 4), span(4.2, 6), span(20, 25), span(40, 49)];
    expect(groupSpans(spans, 12)).toEqual([
      {
        pieces: [
          { ...span(1, 4), at: 0 },
          { ...span(4.2, 6), at: expect.closeTo(3.2) },
          { ...span(20, 25), at: expect.closeTo(5.5) },
        ],
        length: expect.closeTo(10.5),
      },
      { pieces: [{ ...span(40, 49), at: 0 }], length: 9 },
    ]);
    expect(groupSpans([], 12)).toEqual([]);
  });

  it("hold the samples of their spans and nothing else", () => {
    const samples = Float32Array.from({ length: 64_000 }, (_, at) => Math.floor(at / 16_000) + 1);
    const [stretch] = groupSpans([span(0.5, 1), span(3, 3.5)], 12);
    const joined = joinSamples(samples, stretch!);
    expect([joined.length, joined[0], joined[8_000], joined[16_000]]).toEqual([24_000, 1, 0, 4]);
  });

  it("cut a span that is too long where it is quiet", () => {
    const samples = new Float32Array(16_000 * 60).fill(0.5).fill(0, 16_000 * 24, 16_000 * 24.3);
    const [first, second, third] = cutSpans(samples, [span(0, 60)], 28);
    expect(first).toEqual({ start: 0, end: expect.closeTo(24.15, 0) });
    expect(second?.start).toBe(first?.end);
    expect(third).toEqual({ start: second?.end, end: 60 });
    expect(cutSpans(samples, [span(0, 28)], 28)).toEqual([span(0, 28)]);
  });

  it.each<[number, number, [number, number] | null]>([
    [0, 2, [10, 12]],
    [1, 5, [11, 21.5]],
    [3.5, 5.5, [20, 22]],
    [2, 3.4, [12, 13]],
    [3.1, 3.4, null],
    [4, 30, [20.5, 22]],
    [6, 7, null],
  ])("tell where %s to %s s lies in the sound", (start, end, expected) => {
    const [stretch] = groupSpans([span(10, 13), span(20, 22)], 12);
    const place = toSound(stretch!, { start, end });
    expect(place && [place.start, place.end]).toEqual(expected);
  });
});

describe("what Whisper's filter writes", () => {
  it("becomes segments at their times, whatever is in the text", () => {
    const stretches = groupSpans([span(10, 13), span(100, 120)], 21);
    const lines = [
      '{"start":0,"end":2500,"text":"He said "no"."}',
      '{"start":4000,"end":9000,"text":"Nobody spoke here."}',
      '{"start":61500,"end":63000,"text":" Übrigens. "}',
      '{"start":180000,"end":181000,"text":"There is no such stretch."}',
      "not a line of its",
      "",
    ];
    expect(readSegments(lines.join("\n"), stretches)).toEqual([
      { ...span(10, 12.5), text: 'He said "no".', words: [] },
      { ...span(101.5, 103), text: "Übrigens.", words: [] },
    ]);
  });

  it.each<[string, string[], string[]]>([
    ["names of sounds", ["[MUSIC]", "(applause)", "*sighs*", "♪♪", "...", ""], []],
    ["names of sounds beside words", ["[door] Come in. (laughs)"], ["Come in."]],
    ["the third of the same", ["No.", "no!", "No", "Yes.", "No."], ["No.", "no!", "Yes.", "No."]],
    ["loops", [`and then ${"I said that ".repeat(20)}`], []],
    [
      "nothing else",
      ["We went to the 3 shops on Main Street.", "東京です。"],
      ["We went to the 3 shops on Main Street.", "東京です。"],
    ],
  ])("loses %s", (_, texts, expected) => {
    const segments = texts.map((text, at) => ({ ...span(at, at + 1), text, words: [] }));
    expect(dropInvented(segments).map(({ text }) => text)).toEqual(expected);
  });
});

describe("what pocketsphinx writes", () => {
  it("becomes a segment a span, without noise, fillers and words in the pauses", () => {
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
      [span(10, 14), span(30.007, 31)],
      [span(10, 11.5), span(12.3, 14), span(30.007, 31)],
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

describe("a transcript's errors", () => {
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
  ])("in %j heard as %j are %i of %i words", (said, heard, errors, words) => {
    expect(countWordErrors(said, heard)).toEqual({ errors, words });
  });

  it("in time are what both share, and how far starts are off", () => {
    const [truth, found] = [
      [span(0, 4), span(6, 8)],
      [span(1, 2), span(3, 7)],
    ];
    expect(countShared(truth, found)).toBe(3);
    expect(countShared(truth, [])).toBe(0);
    expect(listOffsets(truth, found)).toEqual([1, 3]);
  });
});
