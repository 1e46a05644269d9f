import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Codec } from "node-av";
import * as av from "node-av/constants";
import sharp from "sharp";
import { CONTACT_SHEET } from "../../src/parameters.ts";
import { photographPath } from "../../tools/sample/images.ts";
import { narrate } from "../../tools/sample/narration.ts";
import { drawText } from "../../tools/sample/text-image.ts";
import { encodeVideo, type Scene, type VideoOptions } from "../../tools/sample/video.ts";

/** What the film shows: a word of each scene's text, if it has one, and its first second. */
export const SCENES = [
  { start: 0, word: "notebook" },
  { start: 5, word: null },
  { start: 11, word: "pastures" },
  { start: 15, word: null },
] as const;

/** What the film says, and from which second on. */
export const SPEECH = [
  { start: 5.5, text: "The boats are tied up in the harbour for the night." },
  { start: 15.5, text: "A carpenter built this cabin alone." },
] as const;

/** Text of the page. */
export const PAGE = ["LANTERN FESTIVAL", "Riverside Park", "Friday 9 October"];

/**
 * A video whose brightness rises every quarter of a second, so that a frame says its time. The
 * service makes a contact sheet of its first 6 seconds, and takes the frame at 3.6 seconds.
 */
export const RAMP = { steps: 32, stepSeconds: 0.25, tiles: 6, frameSeconds: 3.6 } as const;
/**
 * A video of the longest contact sheet: its brightness changes every half a second, by the same
 * steps again and again.
 */
export const LONG_RAMP = { steps: CONTACT_SHEET.maxFrames, stepSeconds: 0.5 } as const;
const RAMP_SIZE = { width: 320, height: 180, fps: 20 };
/** Grey values of the first step, and between two steps. */
const [FIRST_GREY, GREY_STEP] = [16, 7];

/** Returns from which second of the ramp on a frame is, by its mean luma. */
export function rampSeconds(luma: number): number {
  return Math.round((luma - FIRST_GREY) / GREY_STEP) * RAMP.stepSeconds;
}

/** Returns which step of the ramp a frame of the long ramp shows, by its mean luma. */
export function longRampStep(luma: number): number {
  return Math.round((luma - FIRST_GREY) / GREY_STEP);
}

/** Encoders of codecs that FRAMES isn't documented to decode. */
const ENCODERS = {
  hevc: { encoder: av.FF_ENCODER_LIBX265, encoderOptions: { "x265-params": "log-level=none" } },
  vp9: { encoder: av.FF_ENCODER_LIBVPX_VP9, encoderOptions: {} },
  av1: { encoder: av.FF_ENCODER_LIBSVTAV1, encoderOptions: { preset: "12" } },
} satisfies Record<string, VideoOptions>;
export const CODECS = Object.keys(ENCODERS);
/** Steps of the ramp in each of these codecs, and the time of the frame that is taken. */
export const CODEC_RAMP = { steps: 8, frameSeconds: 1.1 } as const;
/** Has SVT-AV1 print nothing but errors. */
const SVT_LOG = "1";

/** More pixels in a row than Images takes. */
const TOO_WIDE = 12_500;
/** Bytes of a photo that is cut off: its header, and some of its pixels. */
const CUT_OFF_BYTES = 20_000;

/** Files of the smoke test, by what they are for. */
export interface SmokeFiles {
  film: string;
  photo: string;
  page: string;
  /** The `RAMP`. */
  ramp: string;
  /** The `LONG_RAMP`. */
  longRamp: string;
  /** Short ramps in `CODECS`, as far as FFmpeg has an encoder here. */
  codecs: string[];
  /** A JPEG that is cut off. */
  damaged: string;
  /** A PNG that is too wide. */
  wide: string;
}

/** Writes the files into a folder. The same each time, but for `damaged`. */
export async function writeSmokeFiles(folder: string): Promise<SmokeFiles> {
  const at = (name: string) => join(folder, name);
  const paper = { background: "#23395b", color: "#f4efe1" };
  const scenes: Scene[] = [
    { image: await drawText(["ALPINE", "NOTEBOOK"], paper), seconds: 5 },
    { image: photographPath("nagasaki-boats"), seconds: 6, motion: "pan" },
    { image: await drawText(["HIGH", "PASTURES"]), seconds: 4 },
    { image: photographPath("dust-bowl-home"), seconds: 5, motion: "pan" },
  ];
  await encodeVideo(at("film.mp4"), scenes, { audio: await narrate(SPEECH) });
  const ramp = await drawRamp();
  const longRamp = Array.from({ length: LONG_RAMP.steps }, (_, i) => {
    return { ...ramp[i % RAMP.steps]!, seconds: LONG_RAMP.stepSeconds };
  });
  await encodeVideo(at("long-ramp.mp4"), longRamp, RAMP_SIZE);
  await encodeVideo(at("ramp.mp4"), ramp, RAMP_SIZE);
  process.env["SVT_LOG"] ??= SVT_LOG;
  const codecs: string[] = [];
  for (const [codec, options] of Object.entries(ENCODERS)) {
    if (!Codec.findEncoderByName(options.encoder)) continue;
    const path = at(`${codec}.mp4`);
    await encodeVideo(path, ramp.slice(0, CODEC_RAMP.steps), { ...RAMP_SIZE, ...options });
    codecs.push(path);
  }
  const photo = await sharp(photographPath("french-alpine-landscape")).jpeg().toBuffer();
  await writeFile(at("photo.jpg"), photo);
  await writeFile(at("page.jpg"), await drawText(PAGE));
  await writeFile(at("damaged.jpg"), photo.subarray(0, CUT_OFF_BYTES));
  const wide = { width: TOO_WIDE, height: 8, channels: 3, background: "#888" } as const;
  await writeFile(at("wide.png"), await sharp({ create: wide }).png().toBuffer());
  return {
    film: at("film.mp4"),
    photo: at("photo.jpg"),
    page: at("page.jpg"),
    ramp: at("ramp.mp4"),
    longRamp: at("long-ramp.mp4"),
    codecs,
    damaged: at("damaged.jpg"),
    wide: at("wide.png"),
  };
}

async function drawRamp(): Promise<Scene[]> {
  const greys = Array.from({ length: RAMP.steps }, (_, i) => FIRST_GREY + i * GREY_STEP);
  return Promise.all(
    greys.map(async (grey) => {
      const background = { r: grey, g: grey, b: grey };
      const create = { width: 32, height: 18, channels: 3, background } as const;
      return { image: await sharp({ create }).png().toBuffer(), seconds: RAMP.stepSeconds };
    }),
  );
}
