import { describe, expect, it } from "vitest";
import {
  countAudioChunks,
  mergeCues,
  chunkCues,
  audioChunkAt,
} from "../../../../src/ingest/transcript/audio-chunks.ts";
import type { AsrSegment } from "../../../../src/models/transcribe.ts";

const AAC = { hasAudio: true, technical: { audio_bitrate: 128_000 } };

function asrSegment(
  start: number,
  end: number,
  text: string,
  more: Partial<AsrSegment> = {},
): AsrSegment {
  return {
    start,
    end,
    text,
    words: [],
    noSpeechProb: 0,
    avgLogprob: -0.2,
    compressionRatio: 1.2,
    ...more,
  };
}

describe("a video's audio", () => {
  it.each([
    ["no chunk without audio", { ...AAC, hasAudio: false }, 60_000, 0],
    ["no chunk before it is probed", { ...AAC, hasAudio: null }, 60_000, 0],
    ["one chunk if it is short", AAC, 1500, 1],
    ["equal chunks of at most 45 s", AAC, 100_000, 3],
    ["chunks of 45 s if its bitrate is unknown", { ...AAC, technical: {} }, 90_000, 2],
    // 48 kHz × 2 × 16 bits: 1 MB is 5.2 s, and a chunk has at least ten
    [
      "chunks of 10 s if it is uncompressed",
      { ...AAC, technical: { audio_bitrate: 1_536_000 } },
      60_000,
      6,
    ],
  ])("has %s", (_, facts, durationMs, count) => {
    expect(countAudioChunks({ ...facts, durationMs })).toBe(count);
  });

  it("has chunks without gap whose clips overlap by two seconds on each side", () => {
    const asset = { ...AAC, durationMs: 90_000 };
    expect([0, 1].map((part) => audioChunkAt(asset, part))).toEqual([
      { start: 0, end: 45, clip: { start: 0, end: 47 } },
      { start: 45, end: 90, clip: { start: 43, end: 90 } },
    ]);
  });
});

describe("a recognised segment of the chunk from 45 to 90 s", () => {
  const chunk = { start: 45, end: 90, clip: { start: 43, end: 92 } };
  const words = [
    { word: " the", start: 44, end: 44.8 },
    { word: " cup", start: 44.9, end: 45.3 },
    { word: " falls", start: 45.4, end: 46 },
  ];

  it.each<[string, AsrSegment[], string[]]>([
    [
      "belongs to the chunk with its middle",
      [asrSegment(43, 46, "before"), asrSegment(44.5, 46, "own")],
      ["own"],
    ],
    ["whose middle is the chunk's end belongs to the next", [asrSegment(89, 91, "next")], []],
    [
      "is split between words with times",
      [asrSegment(44, 46, "the cup falls", { words })],
      ["cup falls"],
    ],
    [
      "is dropped if all its words are outside",
      [asrSegment(43, 44, "a", { words: words.slice(0, 1) })],
      [],
    ],
    ["is dropped if it is empty", [asrSegment(50, 51, "")], []],
    [
      "is dropped if it is improbable and nobody speaks",
      [asrSegment(50, 51, "Thank you.", { noSpeechProb: 0.9, avgLogprob: -1.5 })],
      [],
    ],
    [
      "stays if it is probable though nobody speaks",
      [asrSegment(50, 51, "Hm.", { noSpeechProb: 0.9 })],
      ["Hm."],
    ],
    [
      "is dropped if it repeats itself",
      [asrSegment(50, 60, "la la la", { compressionRatio: 3 })],
      [],
    ],
  ])("%s", (_, segments, texts) => {
    expect(chunkCues(segments, chunk).map(({ text }) => text)).toEqual(texts);
  });

  it("has the times of its remaining words", () => {
    expect(chunkCues([asrSegment(44, 46, "the cup falls", { words })], chunk)).toEqual([
      { start: 44.9, end: 46, text: "cup falls" },
    ]);
  });
});

describe("merging the cues of chunks", () => {
  it.each([
    ["keeps a cue that is repeated once", ["no", "no", "yes"], ["no", "no", "yes"]],
    ["reduces three equal cues in a row to one", ["no", "no", "no", "yes"], ["no", "yes"]],
    ["reduces four equal cues at the end to one", ["yes", "no", "no", "no", "no"], ["yes", "no"]],
    ["keeps a cue that is repeated later", ["no", "yes", "no", "no"], ["no", "yes", "no", "no"]],
  ])("%s", (_, texts, expected) => {
    const cues = texts.map((text, i) => ({ start: i, end: i + 1, text }));
    const merged = mergeCues([cues.slice(2), cues.slice(0, 2)]);
    expect(merged.map(({ text }) => text)).toEqual(expected);
  });
});
