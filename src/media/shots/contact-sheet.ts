import { failureOf } from "../../errors.ts";
import { Remembered } from "../../isolate-memory.ts";
import { append, partitionPoint } from "../../lists.ts";
import { CONTACT_SHEET, SIGNATURE, COPY_DETECTION } from "../../parameters.ts";
import type { TimeRange } from "../../time-range.ts";
import { cutSparseClip, type FrameEntry, type SparseClip } from "../container/clips.ts";
import { getDisplaySize } from "../container/display-size.ts";
import { withContainerErrors } from "../container/open-container.ts";
import type { PresentedVideo } from "../container/timeline.ts";
import { isRejected, unreadableFrame, unreadableImage } from "../decoder-errors.ts";
import type { DecoderEnv } from "../decoder.ts";
import { transformClip, MAX_CLIP_BYTES, withClipMemory } from "../frames.ts";
import { readImageSize } from "../pixels/image-size.ts";
import { cellMeans, toIntegralImage } from "../pixels/integral-image.ts";
import { lumaPixels } from "../pixels/jpeg.ts";
import type { Size } from "../pixels/rect.ts";
import { WHOLE } from "../pixels/registration.ts";

export interface SampledFrame {
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
/** Rounding errors of the times of frames. */
const ROUNDING_SECONDS = 0.001;

/**
 * Samples a time range at `perSecond` frames a second and returns the distinct frames in order: of
 * those that `listFrames` lists for the range, the ones that are on screen at regular times. Takes
 * one operation each of FRAMES and IMAGES for every contact sheet, and more where the clip for one
 * sheet exceeds `MAX_CLIP_BYTES`. Decodes key frames only where the range would take more than
 * `CONTACT_SHEET.maxClips` clips a sheet. Throws what `extractFrames` throws.
 */
export async function sampleFrames(
  env: DecoderEnv,
  track: PresentedVideo,
  listed: readonly FrameEntry[],
  { start, end, perSecond }: TimeRange & { perSecond: number },
  onSheet?: () => void,
): Promise<SampledFrame[]> {
  const keys = listed.filter(({ isKey }) => isKey);
  const isLong = (await countClips(track, { start, end }, perSecond)) > CONTACT_SHEET.maxClips;
  const entries = isLong && keys.length > 0 ? keys : listed;
  if (entries.length === 0) return [];
  const begin = Math.max(start, entries[0]!.seconds);
  const seconds = Math.min(end, track.end) - begin;
  const count = Math.max(1, Math.round(seconds * perSecond));
  const samples = Array.from({ length: count }, (_, i) => {
    const time = begin + (i * seconds) / count + ROUNDING_SECONDS;
    const after = partitionPoint(entries, (entry) => entry.seconds <= time);
    return entries[Math.max(0, after - 1)]!.seconds;
  });
  const times = [...new Set(samples)];
  const frames: SampledFrame[] = [];
  for (let done = 0; done < times.length;) {
    const extracted = await extractFrames(env, track, times.slice(done), onSheet);
    append(frames, extracted);
    const last = extracted.at(-1)?.seconds;
    // Frames that are too far from their key frame are passed over.
    const nextKey = keys.find((key) => key.seconds > times[done]!)?.seconds ?? Infinity;
    done = partitionPoint(times, (time) => (last === undefined ? time < nextKey : time <= last));
  }
  return frames;
}

/**
 * Extracts the frames with these presentation times (rising, as `listFrames` returns them): at most
 * one contact sheet, and no more than fit into `MAX_CLIP_BYTES` of video. Takes one operation of
 * FRAMES, unless it refuses as many tiles. Throws what `cutFrameClip` and `transformClip` throw.
 */
export async function extractFrames(
  env: DecoderEnv,
  track: PresentedVideo,
  times: readonly number[],
  onSheet?: () => void,
): Promise<SampledFrame[]> {
  const aspect = await getAspect(track);
  const sheetTimes = times.slice(0, CONTACT_SHEET.maxFrames);
  const range = { start: sheetTimes[0]!, end: sheetTimes.at(-1)! };
  return withClipMemory(track, range, async () => {
    const clip = await cutSparseClip(track, sheetTimes, MAX_CLIP_BYTES);
    const { presentationTimes } = clip;
    if (presentationTimes.length === 0) return [];
    const tiles = await makeTiles(env, clip, aspect, onSheet);
    return tiles.map((luma, i) => ({ seconds: presentationTimes[i]!, luma }));
  });
}

/** Returns how many clips each contact sheet of a time range would take. */
async function countClips(track: PresentedVideo, { start, end }: TimeRange, perSecond: number) {
  return withContainerErrors(async () => {
    const stats = await track.track.computePacketStats(CONTACT_SHEET.bitratePackets);
    const sheetSeconds = Math.min(end - start, CONTACT_SHEET.maxFrames / perSecond);
    return (sheetSeconds * stats.averageBitrate) / 8 / MAX_CLIP_BYTES;
  });
}

/** Fewest tiles that FRAMES is taken to make: an error that it has with fewer has another cause. */
const MIN_SHEET_TILES = 6;
/** Most tiles that FRAMES makes on one sheet, as far as this isolate knows. */
const maxSheetTiles = new Remembered<number>(CONTACT_SHEET.maxFrames);

/**
 * Returns the luma of the tiles of a clip. Takes several sheets where FRAMES refuses as many tiles:
 * its documentation gives no maximum. Each refusal halves it for this isolate.
 */
async function makeTiles(
  env: DecoderEnv,
  clip: SparseClip,
  aspect: number,
  onSheet: (() => void) | undefined,
): Promise<Uint8Array[]> {
  const { length: count } = clip.presentationTimes;
  const tiles: Uint8Array[] = [];
  while (tiles.length < count) {
    const first = tiles.length;
    const sheetCount = Math.ceil((count - first) / maxSheetTiles.value);
    const partCount = Math.ceil((count - first) / sheetCount);
    const partSeconds = partCount * clip.frameDuration;
    const duration = partSeconds >= MIN_DURATION_SECONDS && { seconds: partSeconds };
    const contactSheet = { count: partCount, ...duration, tile: tileSize(aspect) };
    const atSeconds = clip.atSeconds + first * clip.frameDuration;
    try {
      const jpeg = await transformClip(env, { ...clip, atSeconds }, { contactSheet });
      onSheet?.();
      append(tiles, await splitContactSheet(jpeg, partCount, aspect));
    } catch (error) {
      const half = Math.floor(partCount / 2);
      if (!isRejected(error) || half < MIN_SHEET_TILES) {
        if (isRejected(error)) maxSheetTiles.clear();
        throw error;
      }
      maxSheetTiles.value = Math.min(maxSheetTiles.value, half);
    }
  }
  return tiles;
}

function getAspect({ track }: PresentedVideo): Promise<number> {
  return withContainerErrors(async () => {
    const { width, height } = await getDisplaySize(track);
    return width / height;
  });
}

/**
 * Returns the luma of each tile of a contact sheet, `SIGNATURE.side` each way.
 */
async function splitContactSheet(
  jpeg: Uint8Array,
  count: number,
  aspect: number,
): Promise<Uint8Array[]> {
  try {
    const sheet = readImageSize(jpeg);
    if (!sheet) throw unreadableImage("a contact sheet without a size");
    const columns = inferColumns(sheet, count, aspect);
    const { side } = SIGNATURE;
    const size = { width: columns * side, height: Math.ceil(count / columns) * side };
    const pixels = await lumaPixels(jpeg, size);
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
    throw unreadableFrame(cause);
  }
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

/** The luma of a frame, `COPY_DETECTION.thumbnailSide` each way, rows from the top. */
export interface TimedThumbnail {
  seconds: number;
  lumaThumbnail: Uint8Array;
}

/** Scales frames down, black bars included. */
export function toThumbnails(frames: readonly SampledFrame[]): TimedThumbnail[] {
  return scaleDown(frames, [0, 0, SIGNATURE.side, SIGNATURE.side]);
}

/**
 * Scales frames down without their black bars, null for frames without bars. A bar must be black in
 * all of the frames, so that a dark frame doesn't lose its edges.
 */
export function cropLetterbox(frames: readonly SampledFrame[]): TimedThumbnail[] | null {
  const [first] = frames;
  if (!first) return null;
  const brightest = first.luma.slice();
  for (const { luma } of frames) {
    for (let i = 0; i < luma.length; i++) brightest[i] = Math.max(brightest[i]!, luma[i]!);
  }
  const { left, top, width, height } = toIntegralImage(brightest);
  const isWhole = width === SIGNATURE.side && height === SIGNATURE.side;
  return isWhole ? null : scaleDown(frames, [left, top, width, height]);
}

function scaleDown(
  frames: readonly SampledFrame[],
  [left, top, width, height]: readonly [number, number, number, number],
): TimedThumbnail[] {
  return frames.map(({ seconds, luma }) => {
    const image = { ...toIntegralImage(luma), left, top, width, height };
    const means = cellMeans(image, WHOLE, COPY_DETECTION.thumbnailSide);
    return { seconds, lumaThumbnail: Uint8Array.from(means, Math.round) };
  });
}
