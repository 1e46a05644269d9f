import { describe, expect, it } from "vitest";
import { TRANSCRIPT_FILES } from "../../../../src/ingest/transcript/format.ts";
import { parseTranscript } from "../../../../src/ingest/transcript/parse.ts";
import type { Cue } from "../../../../src/types.ts";

const format = (type: keyof typeof TRANSCRIPT_FILES, cues: Cue[]) =>
  TRANSCRIPT_FILES[type].format(cues);
const parseBack = (text: string) => parseTranscript(new TextEncoder().encode(text)).cues;
const cue = (start: number, end: number, text: string) => ({ start, end, text });

const CUES = [cue(0, 1.0004, "a < b & c --> d"), cue(3599.9996, 3599.9999, "one\n\ntwo ")];

describe("a transcript is formatted as", () => {
  it("WebVTT", () => {
    expect(format("vtt", CUES)).toBe(
      "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\na &lt; b &amp; c --&gt; d\n\n" +
        "01:00:00.000 --> 01:00:00.000\none\ntwo\n",
    );
    expect(format("vtt", [])).toBe("WEBVTT\n");
  });

  it("SRT", () => {
    expect(format("srt", CUES)).toBe(
      "1\n00:00:00,000 --> 00:00:01,000\na < b & c → d\n\n" +
        "2\n01:00:00,000 --> 01:00:00,000\none\ntwo\n",
    );
    expect(format("srt", [cue(445_506.789, 445_507, "x")])).toContain(
      "123:45:06,789 --> 123:45:07,000",
    );
    expect(format("srt", [])).toBe("");
  });

  it("plain text", () => {
    expect(format("txt", CUES)).toBe("a < b & c --> d\none two\n");
  });
});

/** Returns a seeded random generator of numbers from 0 to 1 (Mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const FRAGMENTS = Array.from(
  "abc XYZ 0123 .,!?:;'\"()[]{}-_/\\@#%&=+*~|^$ äßéñ 漢字 😀 مرحبا",
).concat("NOTE STYLE WEBVTT 42 00:00:01.000 1,5 &amp; < > -->".split(" "), ["\n", "- "]);

function replaceInAll(cues: Cue[], from: string, to: string): Cue[] {
  return cues.map(({ start, end, text }) => ({ start, end, text: text.replaceAll(from, to) }));
}

function randomCues(random: () => number, fragments: string[]): Cue[] {
  const pick = (bound: number) => Math.floor(random() * bound);
  const normalize = (text: string) =>
    text
      .split("\n")
      .map((line) => line.replaceAll(/\s+/g, " ").trim())
      .filter(Boolean)
      .join("\n");
  const cues = Array.from({ length: 1 + pick(12) }, () => {
    const start = pick(400_000_000) / 1000;
    const text = normalize(
      Array.from({ length: 1 + pick(30) }, () => fragments[pick(fragments.length)]).join(""),
    );
    return { start, end: (Math.round(start * 1000) + pick(9000)) / 1000, text };
  });
  return cues.filter(({ text }) => text !== "").toSorted((a, b) => a.start - b.start);
}

describe("a formatted transcript that is parsed again", () => {
  const random = seeded(8);
  const all = Array.from({ length: 500 }, () => randomCues(random, FRAGMENTS));
  const samples = all.filter((cues) => cues.length > 0);

  it("is the same in WebVTT", () => {
    for (const cues of samples) expect(parseBack(format("vtt", cues))).toEqual(cues);
  });

  it("is the same in SRT without tags, entities, escapes and arrows", () => {
    for (const cues of samples) {
      const letters = ["<", "&", "\\"].reduce((all, sign) => replaceInAll(all, sign, "("), cues);
      const expected = replaceInAll(letters, "-->", "→");
      expect(parseBack(format("srt", letters))).toEqual(expected);
    }
  });

  it("is the same in JSON", () => {
    for (const cues of samples) expect(parseBack(JSON.stringify({ cues }))).toEqual(cues);
  });

  it("has the same text in plain text", () => {
    const words = seeded(9);
    for (let i = 0; i < 200; i++) {
      const cues = randomCues(words, [
        "once ",
        "upon ",
        "a ",
        "Time. ",
        "😀 ",
        "漢字 ",
        "\n",
        "42 ",
      ]);
      if (cues.length === 0) continue;
      const letters = (list: Cue[]) => list.map(({ text }) => text.replaceAll(/\s+/g, "")).join("");
      expect(letters(parseBack(format("txt", cues)))).toBe(letters(cues));
    }
  });
});
