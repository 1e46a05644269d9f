import { AppError, failureOf } from "../../errors.ts";
import { CONTACT_SHEET, SIGNATURE } from "../../parameters.ts";
import type { TimeRange } from "../../time-range.ts";
import { MAX_CLIP_BYTES, withClipMemory } from "../clip-memory.ts";
import type { ContactSheetSizing } from "../contact-sheet-size.ts";
import { type Clip, cutRangeClip, type RangeClip } from "../container/clips.ts";
import { withContainerErrors } from "../container/open-container.ts";
import type { PresentedVideo } from "../container/presented-track.ts";
import { cutSparseClip } from "../container/sparse-clip.ts";
import { unreadableImage } from "../decoder-errors.ts";
import type { DecoderEnv } from "../decoder.ts";
import { getContactSheetSizing, transformClip } from "../frames.ts";
import { cropImage, resizeImage } from "../pixels/crop-image.ts";
import { readImageSize } from "../pixels/image-size.ts";
import { decodeJpeg, type RgbaImage } from "../pixels/jpeg.ts";
import { toLumaImage } from "../pixels/luma.ts";
import type { PixelRect, Size } from "../pixels/rect.ts";
import { resizeLuma } from "../pixels/resize-luma.ts";

/** A small frame of a video. */
export interface SampledFrame {
  /** Presentation time in the video. */
  seconds: number;
  /** `SIGNATURE.side`² luma values, rows from the top: the whole frame, stretched to a square. */
  luma: Uint8Array;
}

/** Aspect ratio from which the shorter side of a tile is shorter than that of a signature. */
const MAX_ASPECT = 4;
/** Shortest side that the FRAMES binding takes, in pixels. */
const MIN_SIDE = 10;
/** Shortest `duration` that the FRAMES binding takes. */
const MIN_DURATION_SECONDS = 1;
/** Share of the sampling interval by which a frame may be off, so that fewer are decoded. */
const MAX_TIME_ERROR = 0.4;
/** Times are passed to the binding in whole milliseconds. */
const ROUNDING_SECONDS = 0.001;

/** Frames that are wanted in colour: the samples nearest to these times. */
export interface TileRequest {
  /** Times in seconds, each later than the one before. */
  times: readonly number[];
  /** That the frames are stretched to. */
  size: Size;
  /** Is called with the frame for each of the times that lie among the samples. */
  onTile: (seconds: number, tile: RgbaImage) => void;
}

/**
 * Samples a time range at `perSecond` frames a second and returns the distinct frames in order.
 * Takes one operation each of FRAMES and IMAGES for every contact sheet, and more where the clip
 * for one sheet exceeds `MAX_CLIP_BYTES`. Decodes key packets only where the range would
 * take more than `CONTACT_SHEET.maxClips` clips a sheet. Throws what `cutRangeClip` and
 * `transformClip` throw.
 */
export async function sampleFrames(
  env: DecoderEnv,
  track: PresentedVideo,
  { start, end, perSecond }: TimeRange & { perSecond: number },
  request?: TileRequest,
): Promise<SampledFrame[]> {
  const maxSheetSeconds = Math.min(CONTACT_SHEET.maxSeconds, CONTACT_SHEET.maxFrames / perSecond);
  const sheetCount = Math.max(1, Math.ceil((end - start) / maxSheetSeconds - 0.01));
  const aspect = await getAspect(track);
  const bytesPerSecond = await withContainerErrors(async () => {
    return (await track.track.computePacketStats(CONTACT_SHEET.bitratePackets)).averageBitrate / 8;
  });
  const clipCount = ((end - start) * bytesPerSecond) / MAX_CLIP_BYTES;
  const keyPacketsOnly = clipCount > sheetCount * CONTACT_SHEET.maxClips;
  const gapSeconds = MAX_TIME_ERROR / perSecond;
  const options = { maxBytes: MAX_CLIP_BYTES, keyPacketsOnly, gapSeconds };
  const frames: SampledFrame[] = [];
  for (let sheet = 0, position = start; sheet < sheetCount; sheet++) {
    const sheetEnd = start + ((end - start) * (sheet + 1)) / sheetCount;
    while (position < sheetEnd) {
      const range = { start: position, end: sheetEnd };
      const sampled = await withClipMemory(track, range, async () => {
        const clip = await cutRangeClip(track, range, options);
        const isEmpty = clip.endSeconds <= range.start || clip.presentationTimes.length === 0;
        const sampledFrames = isEmpty
          ? []
          : await sampleClip(env, clip, range.start, { perSecond, aspect, request });
        const isDone = clip.isComplete || clip.endSeconds <= range.start;
        return { sampledFrames, end: isDone ? sheetEnd : clip.endSeconds };
      });
      frames.push(...sampled.sampledFrames);
      position = sampled.end;
    }
  }
  return frames.filter(({ seconds }, i) => seconds !== frames[i - 1]?.seconds);
}

/**
 * Extracts the frames with these presentation times (rising, as `listFrames` returns them): at most
 * one contact sheet, and no more than fit into `MAX_CLIP_BYTES` of video. Takes one
 * operation of FRAMES. Throws what `sampleFrames` throws.
 */
export async function extractFrames(
  env: DecoderEnv,
  track: PresentedVideo,
  times: readonly number[],
): Promise<SampledFrame[]> {
  const aspect = await getAspect(track);
  const sheetTimes = times.slice(0, CONTACT_SHEET.maxFrames);
  const range = { start: sheetTimes[0]!, end: sheetTimes.at(-1)! };
  return withClipMemory(track, range, async () => {
    const clip = await cutSparseClip(track, sheetTimes, MAX_CLIP_BYTES);
    const { length: count } = clip.presentationTimes;
    if (count === 0) return [];
    const contactSheet = { count, seconds: count * clip.frameDuration, tile: tileSize(aspect) };
    const jpeg = await transformClip(env, clip, { contactSheet });
    const tiles = await splitContactSheet(jpeg, count, aspect);
    return tiles.map((luma, i) => ({ seconds: clip.presentationTimes[i]!, luma }));
  });
}

/**
 * Decodes a clip into one contact sheet and returns its frames. The binding's documentation leaves
 * two things open. The tiles are taken to be the frames at the start of equal parts of the clip
 * (the middle would be off by half a part, less than half a second here), row by row. The number of
 * columns is inferred from the sheet.
 */
async function sampleClip(
  env: DecoderEnv,
  clip: RangeClip,
  startSeconds: number,
  { perSecond, aspect, request }: ClipSampling,
): Promise<SampledFrame[]> {
  const begin = Math.max(startSeconds, clip.presentationTimes[0]!);
  const available = Math.max(clip.endSeconds, clip.presentationTimes.at(-1)!) - begin;
  const seconds = Math.min(available, Math.max(MIN_DURATION_SECONDS, clip.endSeconds - begin));
  const count = Math.min(CONTACT_SHEET.maxFrames, Math.max(1, Math.round(seconds * perSecond)));
  const duration = seconds >= MIN_DURATION_SECONDS && { seconds };
  const contactSheet = { count, ...duration, tile: tileSize(aspect) };
  const jpeg = await transformClip(env, clip, { contactSheet });
  const sampleTime = (i: number) => begin + (i * seconds) / count;
  const tiles = await splitContactSheet(jpeg, count, aspect, (sheet, tileRect) => {
    if (request) cutTiles(sheet, tileRect, count, sampleTime, request);
  });
  return tiles.flatMap((luma, i) => {
    const sampledAt = sampleTime(i);
    const isInRange = i === 0 || sampledAt < clip.endSeconds;
    return isInRange ? [{ seconds: frameStartAt(clip.presentationTimes, sampledAt), luma }] : [];
  });
}

interface ClipSampling {
  perSecond: number;
  /** Width over height of a frame. */
  aspect: number;
  request: TileRequest | undefined;
}

/** Returns the rectangle of a tile of a contact sheet. */
type TileRect = (tile: number) => PixelRect;

/** Cuts the frames nearest to the times of a request out of a contact sheet. */
function cutTiles(
  sheet: RgbaImage,
  tileRect: TileRect,
  count: number,
  sampleTime: (tile: number) => number,
  { times, size, onTile }: TileRequest,
): void {
  for (let i = 0; i < count; i++) {
    const [from, to] = [sampleTime(i - 0.5), sampleTime(i + 0.5)];
    const time = times.find((seconds) => seconds >= from && seconds < to);
    if (time !== undefined) onTile(time, resizeImage(cropImage(sheet, tileRect(i)), size));
  }
}

/** A contact sheet as FRAMES has made it. */
export interface ContactSheetLayout extends Size {
  columns: number;
  /** What FRAMES takes the requested size for. */
  sizing: ContactSheetSizing;
  /** Mean luma of each tile, 0–255, in the order in which the tiles are taken to be. */
  tileLumas: number[];
}

/**
 * Makes a contact sheet of a whole MP4 with H.264, whose tiles are to have a size. Throws what
 * `transformClip` throws.
 */
export async function observeContactSheet(
  env: DecoderEnv,
  file: Blob,
  contactSheet: { count: number; seconds: number },
  tile: Size,
): Promise<ContactSheetLayout> {
  const clip: Clip = { file, codec: "avc", atSeconds: 0 };
  const jpeg = await transformClip(env, clip, { contactSheet: { ...contactSheet, tile } });
  const sheet = readImageSize(jpeg);
  if (!sheet) throw unreadableImage("a contact sheet without a size");
  const aspect = tile.width / tile.height;
  const tiles = await splitContactSheet(jpeg, contactSheet.count, aspect);
  const tileSide = { width: SIGNATURE.side, height: SIGNATURE.side };
  const toMean = (luma: Uint8Array) =>
    resizeLuma({ ...tileSide, luma }, { width: 1, height: 1 })[0]!;
  const columns = inferColumns(sheet, contactSheet.count, aspect);
  return { ...sheet, columns, sizing: getContactSheetSizing(), tileLumas: tiles.map(toMean) };
}

/** Width over height, as displayed. */
function getAspect({ track }: PresentedVideo): Promise<number> {
  return withContainerErrors(
    async () => (await track.getDisplayWidth()) / (await track.getDisplayHeight()),
  );
}

/** Returns the presentation time of the frame that is on screen at `seconds`. */
function frameStartAt(presentationTimes: number[], seconds: number): number {
  return (
    presentationTimes.findLast((time) => time <= seconds + ROUNDING_SECONDS) ??
    presentationTimes[0]!
  );
}

/**
 * Returns the luma of each tile of a contact sheet, `SIGNATURE.side` each way. Shows `inspect` the
 * pixels of the sheet.
 */
async function splitContactSheet(
  jpeg: Uint8Array,
  count: number,
  aspect: number,
  inspect?: (sheet: RgbaImage, tileRect: TileRect) => void,
): Promise<Uint8Array[]> {
  try {
    const sheet = readImageSize(jpeg);
    if (!sheet) throw unreadableImage("a contact sheet without a size");
    const columns = inferColumns(sheet, count, aspect);
    const { side } = SIGNATURE;
    const size = { width: columns * side, height: Math.ceil(count / columns) * side };
    const pixels = await decodeJpeg(jpeg, (image) => {
      inspect?.(image, (tile) => tileRectOf(image, columns, count, tile));
      return resizeLuma(toLumaImage(image), size);
    });
    return Array.from({ length: count }, (_, i) => {
      const luma = new Uint8Array(side * side);
      const corner = Math.floor(i / columns) * side * size.width + (i % columns) * side;
      for (let row = 0; row < side; row++) {
        const line = corner + row * size.width;
        luma.set(pixels.subarray(line, line + side), row * side);
      }
      return luma;
    });
  } catch (cause) {
    if (failureOf(cause).code !== "unreadable_image") throw cause;
    throw new AppError("unreadable_frame", "A contact sheet can't be decoded.", { cause });
  }
}

function tileRectOf(sheet: Size, columns: number, count: number, tile: number): PixelRect {
  const [width, height] = [sheet.width / columns, sheet.height / Math.ceil(count / columns)];
  const left = Math.round((tile % columns) * width);
  const top = Math.round(Math.floor(tile / columns) * height);
  return { left, top, width: Math.floor(width), height: Math.floor(height) };
}

/**
 * Infers the number of columns of a contact sheet of `count` frames. Each number of columns implies
 * another aspect ratio of the tiles: the one nearest to `aspect` (width over height) is right.
 */
export function inferColumns(sheet: Size, count: number, aspect: number): number {
  const aspectError = (columns: number) => {
    const rows = Math.ceil(count / columns);
    return Math.abs(Math.log(sheet.width / columns / (sheet.height / rows) / aspect));
  };
  const candidates = Array.from({ length: count }, (_, i) => i + 1);
  return candidates.reduce((best, columns) =>
    aspectError(columns) < aspectError(best) ? columns : best,
  );
}

/** Returns a size whose shorter side is that of a signature, or whose longer one is limited. */
function tileSize(aspect: number): Size {
  const { side } = SIGNATURE;
  const ratio = Math.max(aspect, 1 / aspect);
  const long = Math.round(side * Math.min(MAX_ASPECT, ratio));
  const short = ratio <= MAX_ASPECT ? side : Math.max(MIN_SIDE, Math.round(long / ratio));
  return aspect > 1 ? { width: long, height: short } : { width: short, height: long };
}
