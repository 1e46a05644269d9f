import { describe, expect, it } from "vitest";
import { countPieces, joinCues, ownCues, pieceAt } from "../../src/ingest/pieces.ts";
import type { Spoken } from "../../src/models/transcribe.ts";

const AAC = { hasAudio: true, technical: { audio_bitrate: 128_000 } };

function said(start: number, end: number, text: string, more: Partial<Spoken> = {}): Spoken {
  return {
    start,
    end,
    text,
    words: [],
    noSpeech: 0,
    logProbability: -0.2,
    compression: 1.2,
    ...more,
  };
}

describe("a video's sound", () => {
  it.each([
    ["nothing without sound", { ...AAC, hasAudio: false }, 60_000, 0],
    ["nothing where nobody has looked", { ...AAC, hasAudio: null }, 60_000, 0],
    ["one piece of a clip", AAC, 1500, 1],
    ["equal pieces of at most 45 s", AAC, 100_000, 3],
    ["45 s where the rate is unknown", { ...AAC, technical: {} }, 90_000, 2],
    // 48 kHz × 2 × 16 bits: 1 MB is 5.2 s, and ten are the least
    ["short ones of raw sound", { ...AAC, technical: { audio_bitrate: 1_536_000 } }, 60_000, 6],
  ])("is cut into %s", (_, facts, durationMs, count) => {
    expect(countPieces({ ...facts, durationMs })).toBe(count);
  });

  it("is listened to without gap, and a little beyond each edge", () => {
    const asset = { ...AAC, durationMs: 90_000 };
    expect([0, 1].map((part) => pieceAt(asset, part))).toEqual([
      { start: 0, end: 45, from: 0, to: 47 },
      { start: 45, end: 90, from: 43, to: 90 },
    ]);
  });
});

describe("what was heard", () => {
  const piece = { start: 45, end: 90, from: 43, to: 92 };
  const words = [
    { word: " the", start: 44, end: 44.8 },
    { word: " cup", start: 44.9, end: 45.3 },
    { word: " falls", start: 45.4, end: 46 },
  ];

  it.each<[string, Spoken[], string[]]>([
    ["counts where its middle is", [said(43, 46, "before"), said(44.5, 46, "own")], ["own"]],
    ["counts once at a border", [said(89, 91, "next")], []],
    [
      "is cut between words that have times",
      [said(44, 46, "the cup falls", { words })],
      ["cup falls"],
    ],
    [
      "is dropped with all its words outside",
      [said(43, 44, "a", { words: words.slice(0, 1) })],
      [],
    ],
    ["is dropped where it is empty", [said(50, 51, "")], []],
    [
      "is dropped where nobody speaks",
      [said(50, 51, "Thank you.", { noSpeech: 0.9, logProbability: -1.5 })],
      [],
    ],
    [
      "is kept where only one doubt speaks against it",
      [said(50, 51, "Hm.", { noSpeech: 0.9 })],
      ["Hm."],
    ],
    [
      "is dropped where it goes round and round",
      [said(50, 60, "la la la", { compression: 3 })],
      [],
    ],
  ])("%s", (_, spoken, texts) => {
    expect(ownCues(spoken, piece).map(({ text }) => text)).toEqual(texts);
  });

  it("has the times of the words that are left", () => {
    expect(ownCues([said(44, 46, "the cup falls", { words })], piece)).toEqual([
      { start: 44.9, end: 46, text: "cup falls" },
    ]);
  });

  it.each([
    ["twice", ["no", "no", "yes"], ["no", "no", "yes"]],
    ["three times", ["no", "no", "no", "yes"], ["no", "yes"]],
    ["over and over, at the end", ["yes", "no", "no", "no", "no"], ["yes", "no"]],
    ["again later", ["no", "yes", "no", "no"], ["no", "yes", "no", "no"]],
  ])("said %s in a row", (_, texts, kept) => {
    const cues = texts.map((text, at) => ({ start: at, end: at + 1, text }));
    expect(joinCues([cues.slice(2), cues.slice(0, 2)]).map(({ text }) => text)).toEqual(kept);
  });
});
