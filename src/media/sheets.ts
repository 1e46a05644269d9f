import type { InputVideoTrack } from "mediabunny";
import { SHEETS, SIGNATURE } from "../config.ts";
import { AppError } from "../errors.ts";
import type { Size } from "./areas.ts";
import { cutStretch, type Stretch } from "./clips.ts";
import { reading } from "./container.ts";
import type { DecoderEnv, Wanted } from "./decoder.ts";
import { transformClip } from "./frames.ts";
import { cutMontage } from "./montages.ts";
import { toPictureError, unreadablePicture } from "./picture-errors.ts";
import { sizeInHeader } from "./picture-size.ts";
import { greyPixels } from "./pixels.ts";

/** What decodes videos, and pictures. */
export type SheetsEnv = DecoderEnv & Pick<Env, "IMAGES">;

/** A small picture of a moment of a video. */
export interface Still {
  /** When the picture begins to be shown. */
  seconds: number;
  /** `SIGNATURE.side`² grey pixels: the whole picture, stretched to a square. */
  grey: Uint8Array;
}

/** Sides beyond which a still would be more bars than picture. */
const MAX_ASPECT = 4;
/** The least that the FRAMES binding takes for a duration. */
const MIN_SECONDS = 1;
/** By how much of the time between two stills one may be off, so that fewer pictures are decoded. */
const GAP = 0.4;
/** Times go to the binding in whole milliseconds. */
const TOLERANCE = 0.001;

/**
 * The different pictures that are shown from `from` to `to` (seconds), looked at `perSecond` times a
 * second, in order: one operation each of FRAMES and IMAGES for every `SHEETS.stills` of them, and more
 * where the video has more than `SHEETS.maxBytes` for so many. Where that would be more than
 * `SHEETS.pieces` times as many, only the first picture of each group is looked at. Throws as `cutClip`
 * and `frameOf` do.
 */
export async function takeStills(
  env: SheetsEnv,
  track: InputVideoTrack,
  { from, to, perSecond }: { from: number; to: number; perSecond: number },
): Promise<Still[]> {
  const longest = Math.min(SHEETS.maxSeconds, SHEETS.stills / perSecond);
  const sheets = Math.max(1, Math.ceil((to - from) / longest - 0.01));
  const aspect = await aspectOf(track);
  const bytesPerSecond = await reading(async () => {
    return (await track.computePacketStats(SHEETS.sampledPackets)).averageBitrate / 8;
  });
  const pieces = ((to - from) * bytesPerSecond) / SHEETS.maxBytes;
  const keysOnly = pieces > sheets * SHEETS.pieces;
  const rules = { maxBytes: SHEETS.maxBytes, keysOnly, gapSeconds: GAP / perSecond };
  const stills: Still[] = [];
  for (let sheet = 0, at = from; sheet < sheets; sheet++) {
    const until = from + ((to - from) * (sheet + 1)) / sheets;
    for (let isWhole = false; !isWhole && at < until;) {
      const stretch = await cutStretch(track, at, until, rules);
      if (stretch.endSeconds <= at) break;
      stills.push(...(await stillsOf(env, stretch, at, perSecond, aspect)));
      ({ isWhole, endSeconds: at } = stretch);
    }
    at = until;
  }
  return stills.filter(({ seconds }, i) => seconds !== stills[i - 1]?.seconds);
}

/**
 * The pictures that begin to be shown at these times (as `listPictures` has them, rising), or as many of
 * them as `SHEETS.maxBytes` of video hold, at most `SHEETS.stills`: one operation each of FRAMES and
 * IMAGES. Throws as `takeStills` does.
 */
export async function takePictures(
  env: SheetsEnv,
  track: InputVideoTrack,
  times: readonly number[],
): Promise<Still[]> {
  const aspect = await aspectOf(track);
  const montage = await cutMontage(track, times.slice(0, SHEETS.stills), SHEETS.maxBytes);
  const { length: count } = montage.shownAt;
  if (count === 0) return [];
  const sheet = { count, seconds: count * montage.heldSeconds };
  const jpeg = await transformClip(env, montage, { size: tileSize(aspect), sheet });
  const squares = await squaresOf(env.IMAGES, jpeg, count, aspect);
  return squares.map((grey, i) => ({ seconds: montage.shownAt[i]!, grey }));
}

/**
 * The stills of one sheet. What the binding's documentation leaves open is taken to be so: the pictures
 * are those shown at the start of equal parts of the stretch (the middle would be off by half a part,
 * less than half a second here), row by row, and the size is that of one of them; the number of columns
 * is read off the sheet.
 */
async function stillsOf(
  env: SheetsEnv,
  stretch: Stretch,
  from: number,
  perSecond: number,
  aspect: number,
): Promise<Still[]> {
  const begin = Math.max(from, stretch.shownAt[0]!);
  const held = Math.max(stretch.endSeconds, stretch.shownAt.at(-1)!) - begin;
  const seconds = Math.min(held, Math.max(MIN_SECONDS, stretch.endSeconds - begin));
  const count = Math.min(SHEETS.stills, Math.max(1, Math.round(seconds * perSecond)));
  const sheet = { count, ...(seconds >= MIN_SECONDS && { seconds }) };
  const jpeg = await transformClip(env, stretch, { size: tileSize(aspect), sheet });
  const squares = await squaresOf(env.IMAGES, jpeg, count, aspect);
  return squares.flatMap((grey, i) => {
    const at = begin + (i * seconds) / count;
    const isWanted = i === 0 || at < stretch.endSeconds;
    return isWanted ? [{ seconds: shownBy(stretch.shownAt, at), grey }] : [];
  });
}

/** Width over height, as shown. */
function aspectOf(track: InputVideoTrack): Promise<number> {
  return reading(async () => (await track.getDisplayWidth()) / (await track.getDisplayHeight()));
}

/** When the picture that is on screen at a moment began to be. */
function shownBy(shownAt: number[], seconds: number): number {
  return shownAt.findLast((time) => time <= seconds + TOLERANCE) ?? shownAt[0]!;
}

/** The pictures of a sheet, each `SIGNATURE.side` each way. */
async function squaresOf(
  images: ImagesBinding,
  jpeg: Uint8Array,
  count: number,
  aspect: number,
): Promise<Uint8Array[]> {
  try {
    const sheet = sizeInHeader(jpeg);
    if (!sheet) throw unreadablePicture("a sheet of no size");
    const columns = columnsOf(sheet, count, aspect);
    const { side } = SIGNATURE;
    const size = { width: columns * side, height: Math.ceil(count / columns) * side };
    const pixels = await greyPixels(images, new Blob([jpeg]).stream(), size);
    return Array.from({ length: count }, (_, i) => {
      const grey = new Uint8Array(side * side);
      const corner = Math.floor(i / columns) * side * size.width + (i % columns) * side;
      for (let row = 0; row < side; row++) {
        const line = corner + row * size.width;
        grey.set(pixels.subarray(line, line + side), row * side);
      }
      return grey;
    });
  } catch (cause) {
    const error = toPictureError(cause);
    if (error.code !== "unreadable_image") throw error;
    throw new AppError("unreadable_frame", "A sheet of frames can't be decoded.", { cause });
  }
}

/**
 * How many columns a sheet of `count` pictures has. Fewer columns are more rows, so that each number
 * gives the pictures another aspect (width over height): that which is nearest to theirs is right.
 */
export function columnsOf(sheet: Size, count: number, aspect: number): number {
  const misfit = (columns: number) => {
    const rows = Math.ceil(count / columns);
    return Math.abs(Math.log(sheet.width / columns / (sheet.height / rows) / aspect));
  };
  const all = Array.from({ length: count }, (_, i) => i + 1);
  return all.reduce((best, columns) => (misfit(columns) < misfit(best) ? columns : best));
}

/** Whose shorter side is that of a signature. */
function tileSize(aspect: number): Wanted["size"] {
  const { side } = SIGNATURE;
  const long = Math.round(side * Math.min(MAX_ASPECT, Math.max(aspect, 1 / aspect)));
  const [width, height] = aspect > 1 ? [long, side] : [side, long];
  return { width, height, fit: "contain" };
}
