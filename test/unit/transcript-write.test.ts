import { describe, expect, it } from "vitest";
import { parseTranscript } from "../../src/ingest/transcript-read.ts";
import { TRANSCRIPT_FILES } from "../../src/ingest/transcript-write.ts";
import type { Cue } from "../../src/types.ts";

const write = (format: keyof typeof TRANSCRIPT_FILES, cues: Cue[]) =>
  TRANSCRIPT_FILES[format].write(cues);
const readBack = (text: string) => parseTranscript(new TextEncoder().encode(text)).cues;
const cue = (start: number, end: number, text: string) => ({ start, end, text });

const CUES = [cue(0, 1.0004, "a < b & c --> d"), cue(3599.9996, 3599.9999, "one\n\ntwo ")];

describe("a transcript is written as", () => {
  it("WebVTT", () => {
    expect(write("vtt", CUES)).toBe(
      "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\na &lt; b &amp; c --&gt; d\n\n" +
        "01:00:00.000 --> 01:00:00.000\none\ntwo\n",
    );
    expect(write("vtt", [])).toBe("WEBVTT\n");
  });

  it("SRT", () => {
    expect(write("srt", CUES)).toBe(
      "1\n00:00:00,000 --> 00:00:01,000\na < b & c → d\n\n" +
        "2\n01:00:00,000 --> 01:00:00,000\none\ntwo\n",
    );
    expect(write("srt", [cue(445_506.789, 445_507, "x")])).toContain(
      "123:45:06,789 --> 123:45:07,000",
    );
    expect(write("srt", [])).toBe("");
  });

  it("plain text", () => {
    expect(write("txt", CUES)).toBe("a < b & c --> d\none two\n");
  });
});

/** Numbers from 0 to 1, always the same (Mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const PIECES = Array.from("abc XYZ 0123 .,!?:;'\"()[]{}-_/\\@#%&=+*~|^$ äßéñ 漢字 😀 مرحبا").concat(
  "NOTE STYLE WEBVTT 42 00:00:01.000 1,5 &amp; < > -->".split(" "),
  ["\n", "- "],
);

function inAll(cues: Cue[], from: string, to: string): Cue[] {
  return cues.map(({ start, end, text }) => ({ start, end, text: text.replaceAll(from, to) }));
}

function randomCues(random: () => number, pieces: string[]): Cue[] {
  const pick = (most: number) => Math.floor(random() * most);
  const tidy = (text: string) =>
    text
      .split("\n")
      .map((line) => line.replaceAll(/\s+/g, " ").trim())
      .filter(Boolean)
      .join("\n");
  const cues = Array.from({ length: 1 + pick(12) }, () => {
    const start = pick(400_000_000) / 1000;
    const text = tidy(
      Array.from({ length: 1 + pick(30) }, () => pieces[pick(pieces.length)]).join(""),
    );
    return { start, end: (Math.round(start * 1000) + pick(9000)) / 1000, text };
  });
  return cues.filter(({ text }) => text !== "").toSorted((a, b) => a.start - b.start);
}

describe("what is written and read again", () => {
  const random = seeded(8);
  const all = Array.from({ length: 500 }, () => randomCues(random, PIECES));
  const some = all.filter((cues) => cues.length > 0);

  it("is the same in WebVTT", () => {
    for (const cues of some) expect(readBack(write("vtt", cues))).toEqual(cues);
  });

  it("is the same in SRT, which has no arrows and no tags", () => {
    for (const cues of some) {
      const bare = inAll(cues, "<", "(");
      const held = inAll(bare, "-->", "→");
      expect(readBack(write("srt", bare))).toEqual(held);
    }
  });

  it("is the same in JSON", () => {
    for (const cues of some) expect(readBack(JSON.stringify({ cues }))).toEqual(cues);
  });

  it("has the same words in plain text", () => {
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
      const bare = (list: Cue[]) => list.map(({ text }) => text.replaceAll(/\s+/g, "")).join("");
      expect(bare(readBack(write("txt", cues)))).toBe(bare(cues));
    }
  });
});
