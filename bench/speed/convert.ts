import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import * as av from "node-av/constants";
import type { TaskMessage } from "../../local/engine/decoder-process.ts";
import { measureMedia } from "../../local/engine/measure-media.ts";
import { CONVERSION } from "../../src/parameters.ts";
import { photographPath } from "../../tools/sample/images.ts";
import { narrate } from "../../tools/sample/narration.ts";
import type { Scene } from "../../tools/sample/video-frames.ts";
import { round, type Suite, type SuiteOptions } from "../../tools/suite.ts";
import { AAC, type FormatKind, MP2, MP3, writeKind } from "../format-kinds.ts";

const PROCESS = join(import.meta.dirname, "../../local/engine/decoder-process.ts");
const SECONDS = 20;
const RUNS = 3;
/** Dollars of a second of a container's processor: docs/costs.md. */
const DOLLARS_A_SECOND = 0.00002;

const KINDS: FormatKind[] = [
  {
    name: "HEVC, 1920 × 1080",
    extension: "mp4",
    video: av.FF_ENCODER_LIBX265,
    videoOptions: { preset: "ultrafast" },
    audio: AAC,
    size: { width: 1920, height: 1080 },
  },
  {
    name: "MPEG-2, 720 × 576",
    extension: "mpg",
    video: av.FF_ENCODER_MPEG2VIDEO,
    audio: MP2,
    size: { width: 720, height: 576 },
  },
  {
    name: "AVI of MPEG-4, 640 × 480",
    extension: "avi",
    video: av.FF_ENCODER_MPEG4,
    audio: MP3,
    size: { width: 640, height: 480 },
  },
];

/**
 * Runs a program to its end, or until it replies to a message. Returns the seconds of processor
 * that it has taken.
 */
async function measureCpu(
  program: string,
  args: string[],
  signal: AbortSignal,
  message?: TaskMessage,
): Promise<number> {
  const script = '"$@" >/dev/null && times';
  const child = spawn("sh", ["-c", script, "sh", program, ...args], {
    signal,
    stdio: ["ignore", "pipe", "pipe", message ? "ipc" : "ignore"],
    serialization: "advanced",
  });
  child.once("message", () => child.disconnect());
  if (message) child.send(message);
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, "exit"),
  ]);
  if (code !== 0) throw new Error(`${program} failed: ${errors}`);
  const [, ofChildren = ""] = output.split("\n"); // "0m1.20s 0m0.10s", user and system
  const parts = [...ofChildren.matchAll(/(\d+)m([\d.]+)s/g)];
  return parts.reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds),
    0,
  );
}

/** Returns the median of `RUNS` runs, in seconds of processor for a minute of film. */
async function measureMinute(run: () => Promise<number>): Promise<number> {
  const seconds: number[] = [];
  for (let i = 0; i < RUNS; i++) seconds.push(await run());
  return (seconds.toSorted((a, b) => a - b)[Math.floor(RUNS / 2)]! * 60) / SECONDS;
}

/** Converts a film by the decoder's process, and by `ffmpeg` to the same size and codecs. */
async function measureFilm(path: string, target: string, { signal }: SuiteOptions) {
  const { video, audio, recordings } = await measureMedia(path);
  const { width, height, fps } = video!;
  const scale = Math.min(1, CONVERSION.longSide / width, CONVERSION.shortSide / height);
  const size = { width: Math.round(width * scale), height: Math.round(height * scale) };
  const message: TaskMessage = {
    name: "part",
    path,
    target,
    request: {
      bytes: null,
      originSeconds: recordings[0]!.origin_seconds,
      startMs: 0,
      endMs: SECONDS * 1000,
      frameFormat: { ...size, fps },
      audio: audio !== null,
    },
  };
  const ours = await measureMinute(() => measureCpu(process.execPath, [PROCESS], signal, message));
  const output = ["-vf", `scale=${size.width}:${size.height}`, "-c:v", "libx264"];
  const args = ["-v", "error", "-nostdin", "-y", "-i", path, ...output];
  args.push("-preset", "veryfast", "-c:a", "aac", target);
  const theirs = await measureMinute(() => measureCpu("ffmpeg", args, signal)).catch(() => null);
  return { ours, theirs };
}

export const suite: Suite = {
  summary: "processor for a minute of film that the decoder converts, beside `ffmpeg`",
  async run(options) {
    const folder = await mkdtemp(join(tmpdir(), "sightline-convert-"));
    const photos = ["nagasaki-boats", "dust-bowl-home", "french-alpine-landscape"] as const;
    const scenes = photos.map((photo): Scene => {
      return { image: photographPath(photo), seconds: SECONDS / photos.length, motion: "pan" };
    });
    try {
      const voice = await narrate([{ start: 1, text: "The boats are tied up for the night." }]);
      const table: Record<string, string | number>[] = [];
      for (const [i, kind] of KINDS.entries()) {
        const path = join(folder, `${i}.${kind.extension}`);
        await writeKind(path, kind, scenes, voice);
        const { ours, theirs } = await measureFilm(path, join(folder, `${i}-copy.mp4`), options);
        table.push({
          film: kind.name,
          "processor s/min": round(ours, 1),
          "ffmpeg s/min": theirs === null ? "not installed" : round(theirs, 1),
          ratio: theirs === null ? "" : round(ours / theirs, 2),
          "dollars/h": round(ours * 60 * DOLLARS_A_SECOND, 3),
        });
        options.log(Object.values(table.at(-1)!).join(" | "));
      }
      return { table, json: { table } };
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};
