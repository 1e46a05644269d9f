import { describe, expect, it } from "vitest";
import { parseTranscript } from "../../../../src/ingest/transcript/parse.ts";

const parse = (text: string) => parseTranscript(new TextEncoder().encode(text));
const momentsOf = (text: string) => parse(text).cues.map((cue) => [cue.start, cue.text]);

describe("times that stand beside the text aren't words:", () => {
  const MOMENTS = [
    [1, "One."],
    [3, "Two."],
  ];
  it.each([
    ["a table", "1;00:00:01,000;00:00:02,000;One.\n2;00:00:03,000;00:00:04,000;Two.\n"],
    ["tabs and frames", "00:00:01:00\t00:00:02:12\tOne.\n00:00:03:00\t00:00:04:00\tTwo.\n"],
    ["a line of times with a dash", "00:00:01:00 - 00:00:02:12\nOne.\n\n0:03 – 0:04\nTwo.\n"],
    ["speakers", "Ann Lee  0:01\nOne.\n\nSpeaker 2  0:03\nTwo.\n"],
    ["speakers with brackets", "Ann Lee (00:01):\nOne.\n\nBob (00:03):\nTwo.\n"],
    ["parts of a song", "[Verse 1]\n[00:01.00]One.\n[Chorus]\n[00:03.00]Two.\n"],
  ])("%s", (_, text) => {
    expect(momentsOf(text)).toEqual(MOMENTS);
  });

  it("but those at the ends of sentences are", () => {
    const text = "We meet at 10:30\nThen we eat.\nThe ferry leaves at 11:15\n";
    expect(parse(text).cues.every(({ start }) => Number.isNaN(start))).toBe(true);
  });
});

describe("entries of JSON that lack something hide no others:", () => {
  it("a start", () => {
    const cues = [
      { start: 0, end: 1, text: "One." },
      { start: null, end: null, text: "Two." },
      { start: 3, end: 4, text: "Three." },
    ];
    const text = JSON.stringify({ segments: cues }, null, 1);
    const { cues: read, warnings } = parse(text);
    expect(read.map(({ start, text: own }) => [start, own])).toEqual([
      [0, "One."],
      [1, "Two."],
      [3, "Three."],
    ]);
    expect(warnings[0]!.message).toMatch(/^Line 11 of/);
  });

  it("everything", () => {
    const text = JSON.stringify([null, { start: 0.5, duration: 2, text: "One." }]);
    expect(parse(text)).toMatchObject({
      cues: [{ start: 0.5, end: 2.5, text: "One." }],
      warnings: [],
    });
  });
});
