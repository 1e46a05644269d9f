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
import { type Film, lengthOf, randomNumbers } from "../footage-clips.ts";
import { cutsByFilter } from "./filters.ts";
import type { Span } from "./match.ts";
import { type Picture, stage } from "./staging.ts";

export interface StagedFilm extends Film {
  truth: Span[];
}

/** Frames a second. */
export const RATE = 25;
const SCREEN = { width: 192, height: 108 };
const SHOTS = 40;
/** Seconds of a shot. */
const LENGTH = { least: 1, most: 8 };
const PHOTOS = 200;
const PHOTO_SHARE = 0.4;
/** How much larger than the screen a photo is, that a camera moves over. */
const LARGER = 1.7;
/** Of the pans over photos, how many are fast, and in how many frames these get across. */
const WHIP = { share: 0.15, frames: 8 };
/** What may hold a transition of its own can't be a shot. */
const DOUBTFUL = "scdet=threshold=7:sc_pass=1";

/** Whether there is what films are made of. */
export function canStage(dataDir: string): boolean {
  return ["videos", "photos"].every((name) => existsSync(join(dataDir, name)));
}

/** Films of clips of `<DIR>/videos` and photos of `<DIR>/photos` that a camera moves over, the same each time. */
export async function stageFilms(
  dataDir: string,
  count: number,
  folder: string,
  signal: AbortSignal,
): Promise<StagedFilm[]> {
  const random = randomNumbers(7);
  const clips = await listClips(join(dataDir, "videos"), signal);
  const photos = (await readdir(join(dataDir, "photos"))).filter((name) => name.endsWith(".jpg"));
  const some = photos.sort().slice(0, PHOTOS);
  const films: StagedFilm[] = [];
  for (let i = 0; i < count; i++) {
    const shots: Picture[][] = [];
    while (shots.length < SHOTS) {
      const seconds = LENGTH.least + random() * (LENGTH.most - LENGTH.least);
      const frames = Math.round(seconds * RATE);
      if (random() < PHOTO_SHARE) {
        const photo = join(dataDir, "photos", some[Math.floor(random() * some.length)]!);
        shots.push(await panOver(photo, frames, random));
      } else {
        const clip = clips[Math.floor(random() * clips.length)]!;
        const start = Math.max(0, clip.seconds - seconds) * random();
        shots.push(await readShot(clip.path, start, frames, signal));
      }
    }
    const { pictures, truth } = stage(shots, random);
    const path = join(folder, `staged-${i}.mp4`);
    await writePictures(path, pictures);
    films.push({ path, seconds: pictures.length / RATE, truth });
  }
  return films;
}

async function listClips(folder: string, signal: AbortSignal): Promise<Film[]> {
  const clips: Film[] = [];
  for (const name of (await readdir(folder)).sort()) {
    if (!/\.(mp4|avi|mkv)$/.test(name)) continue;
    const path = join(folder, name);
    const seconds = await lengthOf(path);
    const isOne = (await cutsByFilter(path, DOUBTFUL, RATE, signal)).length === 0;
    if (seconds > 2 * LENGTH.least && isOne) clips.push({ path, seconds });
  }
  return clips;
}

/** The last picture stays where the clip is too short. */
async function readShot(
  path: string,
  start: number,
  count: number,
  signal: AbortSignal,
): Promise<Picture[]> {
  const { width, height } = SCREEN;
  const fill = `scale=${width}:${height}:force_original_aspect_ratio=increase,crop=${width}:${height}`;
  using filter = FilterAPI.create(`fps=${RATE},${fill},format=rgb24`);
  const span = { start, end: start + count / RATE };
  const pictures: Picture[] = [];
  for await (const frame of filter.frames(readVideoTrack(path, span, null, signal))) {
    if (!frame) continue;
    pictures.push(Uint8Array.from(frame.toBuffer()));
    frame.free();
  }
  const last = pictures.at(-1);
  if (!last) throw new Error(`${path} has no picture at ${start} s.`);
  return Array.from({ length: count }, (_, i) => pictures[i] ?? last);
}

async function panOver(path: string, count: number, random: () => number): Promise<Picture[]> {
  const [width, height] = [Math.round(SCREEN.width * LARGER), Math.round(SCREEN.height * LARGER)];
  const photo = await sharp(path)
    .resize(width, height, { fit: "cover" })
    .toColourspace("srgb")
    .removeAlpha()
    .raw()
    .toBuffer();
  const place = () =>
    [random() * (width - SCREEN.width), random() * (height - SCREEN.height)] as const;
  const [from, to] = [place(), place()];
  const across = random() < WHIP.share ? WHIP.frames : count;
  return Array.from({ length: count }, (_, frame) => {
    const share = Math.min(1, Math.max(0, (frame - (count - across) / 2) / across));
    const left = Math.round(from[0] + (to[0] - from[0]) * share);
    const top = Math.round(from[1] + (to[1] - from[1]) * share);
    const picture = new Uint8Array(SCREEN.width * SCREEN.height * 3);
    for (let row = 0; row < SCREEN.height; row++) {
      const at = ((top + row) * width + left) * 3;
      picture.set(photo.subarray(at, at + SCREEN.width * 3), row * SCREEN.width * 3);
    }
    return picture;
  });
}

async function writePictures(target: string, pictures: Picture[]): Promise<void> {
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
    const packets = encoder.packets(planar.frames(framesOf(pictures)));
    await writeMediaFile(target, "mp4", [{ encoder, packets }]);
  } finally {
    encoder.close();
  }
}

async function* framesOf(pictures: Picture[]): AsyncGenerator<Frame | null> {
  for (const [at, picture] of pictures.entries()) {
    yield Frame.fromVideoBuffer(Buffer.from(picture), {
      ...SCREEN,
      format: AV_PIX_FMT_RGB24,
      pts: BigInt(at),
      timeBase: new Rational(1, RATE),
    });
  }
  yield null;
}
