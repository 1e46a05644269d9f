import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { Encoder, FilterAPI } from "node-av/api";
import {
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_PIX_FMT_RGB24,
  FF_ENCODER_LIBX264,
} from "node-av/constants";
import { Frame, Rational } from "node-av/lib";
import sharp from "sharp";
import { writeMediaFile } from "../../local/engine/media-file.ts";
import { readVideoTrack } from "../../local/engine/media-track.ts";
import { type LocalVideo, readDurationSeconds, randomNumbers } from "../edited-clips.ts";
import { detectCutsByFilter } from "./filters.ts";
import type { FrameTransition } from "./match.ts";
import { type RgbFrame, composeShots } from "./staging.ts";

export interface StagedVideo extends LocalVideo {
  truth: FrameTransition[];
}

/** Frames a second. */
export const RATE = 25;
const SCREEN = { width: 192, height: 108 };
const SHOTS = 40;
/** Duration of a shot in seconds. */
const SHOT_SECONDS = { min: 1, max: 8 };
const MAX_PHOTOS = 200;
const PHOTO_SHARE = 0.4;
/** Scale of a panned photo relative to the screen. */
const PAN_SCALE = 1.7;
/** Share of the pans that are fast, and their duration in frames. */
const FAST_PAN = { share: 0.15, frames: 8 };
/** Filter with a low threshold: a clip in which it detects a cut isn't used as a shot. */
const SENSITIVE_FILTER = "scdet=threshold=7:sc_pass=1";

/** Returns whether the source media are there. */
export function canStage(dataDir: string): boolean {
  return ["videos", "photos"].every((name) => existsSync(join(dataDir, name)));
}

/**
 * Writes videos of clips of `<DIR>/videos` and panned photos of `<DIR>/photos`, the same each time.
 */
export async function writeStagedVideos(
  dataDir: string,
  count: number,
  folder: string,
  signal: AbortSignal,
): Promise<StagedVideo[]> {
  const random = randomNumbers(7);
  const clips = await listClips(join(dataDir, "videos"), signal);
  const photos = (await readdir(join(dataDir, "photos"))).filter((name) => name.endsWith(".jpg"));
  const selectedPhotos = photos.sort().slice(0, MAX_PHOTOS);
  const videos: StagedVideo[] = [];
  for (let i = 0; i < count; i++) {
    const shots: RgbFrame[][] = [];
    while (shots.length < SHOTS) {
      const seconds = SHOT_SECONDS.min + random() * (SHOT_SECONDS.max - SHOT_SECONDS.min);
      const frames = Math.round(seconds * RATE);
      if (random() < PHOTO_SHARE) {
        const photo = join(
          dataDir,
          "photos",
          selectedPhotos[Math.floor(random() * selectedPhotos.length)]!,
        );
        shots.push(await panPhoto(photo, frames, random));
      } else {
        const clip = clips[Math.floor(random() * clips.length)]!;
        const start = Math.max(0, clip.seconds - seconds) * random();
        shots.push(await readShot(clip.path, start, frames, signal));
      }
    }
    const { frames: shotFrames, truth } = composeShots(shots, random);
    const path = join(folder, `staged-${i}.mp4`);
    await encodeFrames(path, shotFrames);
    videos.push({ path, seconds: shotFrames.length / RATE, truth });
  }
  return videos;
}

async function listClips(folder: string, signal: AbortSignal): Promise<LocalVideo[]> {
  const clips: LocalVideo[] = [];
  for (const name of (await readdir(folder)).sort()) {
    if (!/\.(mp4|avi|mkv)$/.test(name)) continue;
    const path = join(folder, name);
    const seconds = await readDurationSeconds(path);
    const isSingleShot =
      (await detectCutsByFilter(path, SENSITIVE_FILTER, RATE, signal)).length === 0;
    if (seconds > 2 * SHOT_SECONDS.min && isSingleShot) clips.push({ path, seconds });
  }
  return clips;
}

/** Reads frames of a clip; repeats the last frame if the clip is too short. */
async function readShot(
  path: string,
  start: number,
  count: number,
  signal: AbortSignal,
): Promise<RgbFrame[]> {
  const { width, height } = SCREEN;
  const fill = `scale=${width}:${height}:force_original_aspect_ratio=increase,crop=${width}:${height}`;
  using filter = FilterAPI.create(`fps=${RATE},${fill},format=rgb24`);
  const range = { start, end: start + count / RATE };
  const frames: RgbFrame[] = [];
  for await (const frame of filter.frames(readVideoTrack(path, range, null))) {
    signal.throwIfAborted();
    if (!frame) continue;
    frames.push(Uint8Array.from(frame.toBuffer()));
    frame.free();
  }
  const last = frames.at(-1);
  if (!last) throw new Error(`${path} has no frame at ${start} s.`);
  return Array.from({ length: count }, (_, i) => frames[i] ?? last);
}

async function panPhoto(path: string, count: number, random: () => number): Promise<RgbFrame[]> {
  const [width, height] = [
    Math.round(SCREEN.width * PAN_SCALE),
    Math.round(SCREEN.height * PAN_SCALE),
  ];
  const photo = await sharp(path)
    .resize(width, height, { fit: "cover" })
    .toColourspace("srgb")
    .removeAlpha()
    .raw()
    .toBuffer();
  const randomPosition = () =>
    [random() * (width - SCREEN.width), random() * (height - SCREEN.height)] as const;
  const [from, to] = [randomPosition(), randomPosition()];
  const panFrames = random() < FAST_PAN.share ? FAST_PAN.frames : count;
  return Array.from({ length: count }, (_, number) => {
    const progress = Math.min(1, Math.max(0, (number - (count - panFrames) / 2) / panFrames));
    const x = Math.round(from[0] + (to[0] - from[0]) * progress);
    const y = Math.round(from[1] + (to[1] - from[1]) * progress);
    const frame = new Uint8Array(SCREEN.width * SCREEN.height * 3);
    for (let row = 0; row < SCREEN.height; row++) {
      const at = ((y + row) * width + x) * 3;
      frame.set(photo.subarray(at, at + SCREEN.width * 3), row * SCREEN.width * 3);
    }
    return frame;
  });
}

async function encodeFrames(target: string, frames: RgbFrame[]): Promise<void> {
  const encoder = await Encoder.create(FF_ENCODER_LIBX264, {
    threadCount: 2,
    options: { preset: "veryfast", crf: 26 },
    configure: (context) => {
      context.framerate = new Rational(RATE, 1);
    },
  });
  try {
    encoder.setCodecFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
    using planar = FilterAPI.create("format=yuv420p");
    const packets = encoder.packets(planar.frames(toAvFrames(frames)));
    await writeMediaFile(target, "mp4", [{ encoder, packets }]);
  } finally {
    encoder.close();
  }
}

async function* toAvFrames(frames: RgbFrame[]): AsyncGenerator<Frame | null> {
  for (const [at, frame] of frames.entries()) {
    yield Frame.fromVideoBuffer(Buffer.from(frame), {
      ...SCREEN,
      format: AV_PIX_FMT_RGB24,
      pts: BigInt(at),
      timeBase: new Rational(1, RATE),
    });
  }
  yield null;
}
