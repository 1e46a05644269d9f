import { randomUUID } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readAudio } from "../../local/engine/audio-samples.ts";
import { findSpeechIntervals, FRAME_SECONDS } from "../../local/engine/vad-intervals.ts";
import { concatAudio, makeNoise, makeSilence, makeTone, makeVoice, makeWav } from "./audio-file.ts";
import { type Engine, readJson, readError, startEngine } from "./engine-process.ts";
import { atRate, makeVideo } from "./video-file.ts";

interface VadResponse {
  model: string;
  duration_seconds: number;
  intervals: { start: number; end: number }[];
}

/** Expands runs of `[probability, frameCount]`. */
function listFrames(...runs: [number, number][]): number[] {
  return runs.flatMap(([probability, count]) => Array<number>(count).fill(probability));
}

describe("speech intervals", () => {
  const frames = (count: number) => count * FRAME_SECONDS;
  it.each<[string, number[], [number, number][]]>([
    ["none in silence", listFrames([0.1, 100]), []],
    ["none without frames", [], []],
    ["none below the start threshold", listFrames([0.49, 100]), []],
    [
      "one, padded",
      listFrames([0, 20], [0.9, 30], [0, 20]),
      [[frames(20) - 0.2, frames(50) + 0.2]],
    ],
    ["one that begins and ends with the audio", listFrames([0.9, 30]), [[0, frames(30)]]],
    [
      "one above the end threshold",
      listFrames([0, 20], [0.9, 10], [0.4, 30], [0.9, 10], [0, 20]),
      [[frames(20) - 0.2, frames(70) + 0.2]],
    ],
    [
      "one that a short pause doesn't end",
      listFrames([0, 20], [0.9, 20], [0, 9], [0.9, 20], [0, 20]),
      [[frames(20) - 0.2, frames(69) + 0.2]],
    ],
    [
      "two with a longer pause, which they share",
      listFrames([0, 20], [0.9, 20], [0, 10], [0.9, 20], [0, 20]),
      [
        [frames(20) - 0.2, frames(45)],
        [frames(45), frames(70) + 0.2],
      ],
    ],
    ["none of a click", listFrames([0, 20], [0.9, 7], [0, 20]), []],
    ["one of a word", listFrames([0, 20], [0.9, 8], [0, 20]), [[0.44, 1.096]]],
  ])("are %s", (_, probabilities, expected) => {
    const intervals = findSpeechIntervals(probabilities, frames(probabilities.length));
    expect(intervals).toHaveLength(expected.length);
    for (const [at, [start, end]] of expected.entries()) {
      expect(intervals[at]?.start).toBeCloseTo(start, 6);
      expect(intervals[at]?.end).toBeCloseTo(end, 6);
    }
  });
});

describe("the audio of a damaged file", () => {
  it.each(["matroska", "mp4"] as const)("preserves its times in %s", async (container) => {
    const file = await makeVideo({ times: atRate(25, 250), audioSeconds: 10, container });
    file.fill(0, Math.floor(file.length * 0.4), Math.floor(file.length * 0.6));
    const path = join(tmpdir(), randomUUID());
    await writeFile(path, file);
    const samples = await readAudio(path);
    await rm(path);
    const volumes = Array.from({ length: 10 }, (_, second) => {
      const part = samples.subarray(second * 16_000, (second + 1) * 16_000);
      return Math.hypot(...part) / Math.sqrt(part.length);
    });
    expect(samples.length / 16_000).toBeCloseTo(10, 0);
    expect(Math.min(...volumes.slice(0, 3), ...volumes.slice(7, 9))).toBeGreaterThan(0.2);
    expect(Math.min(...volumes.slice(3, 7))).toBeLessThan(0.1);
  });
});

describe("voice activity", () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine();
  });
  afterAll(async () => {
    await engine.stop();
  });

  async function detectSpeech(bytes: Buffer<ArrayBuffer>): Promise<VadResponse> {
    const response = await engine.post("/vad", bytes);
    expect(response.status).toBe(200);
    return readJson<VadResponse>(response);
  }

  it("is detected where speech is", async () => {
    const parts = [
      makeSilence(2),
      makeVoice(3),
      makeNoise(2, 0.02),
      makeVoice(2),
      makeTone(2, 440),
    ];
    const { model, duration_seconds, intervals } = await detectSpeech(
      makeWav(concatAudio(...parts)),
    );
    expect([model, duration_seconds]).toEqual(["silero-vad-v5", 11]);
    expect(intervals).toHaveLength(2);
    for (const [at, [start, end]] of (
      [
        [2, 5],
        [7, 9],
      ] as const
    ).entries()) {
      expect(Math.abs((intervals[at]?.start ?? 0) - start)).toBeLessThan(0.4);
      expect(Math.abs((intervals[at]?.end ?? 0) - end)).toBeLessThan(0.6);
    }
  });

  it.each([
    ["silence", makeSilence(3)],
    ["a tone", makeTone(3, 440)],
    ["noise", makeNoise(3, 0.3)],
    ["a single sample", makeTone(1 / 16_000, 440)],
  ])("is not detected in %s", async (_, samples) => {
    expect((await detectSpeech(makeWav(samples))).intervals).toEqual([]);
  });

  it("is timed from the start of a video", async () => {
    const video = await makeVideo({ times: atRate(25, 50), audioSeconds: 2 });
    const { duration_seconds, intervals } = await detectSpeech(video);
    expect(duration_seconds).toBeCloseTo(2, 1);
    expect(intervals).toEqual([]);
  });

  it("is rejected for a file without audio, for no media and for over ten minutes", async () => {
    const files = [
      await makeVideo({ times: atRate(25, 10) }),
      Buffer.from("Just some words."),
      makeWav(makeSilence(601)),
    ];
    const errors = await Promise.all(
      files.map(async (file) => readError(await engine.post("/vad", file))),
    );
    expect(errors).toEqual([
      [422, "no_audio"],
      [422, "undecodable_media"],
      [413, "too_large"],
    ]);
  });
});
