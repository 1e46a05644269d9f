import { AppError } from "../../errors.ts";
import type { TimeRange } from "../../time-range.ts";
import { requireWithinBudget } from "../structure-budget.ts";
import {
  findBox,
  makeBox,
  type Mp4Box,
  type RangedFile,
  readContent,
  toDataView,
} from "./mp4-boxes.ts";

/** An entry of an edit list as it is stored (`elst`: ISO/IEC 14496-12, 8.6.6). */
export interface StoredEdit {
  /** Duration in units of the movie. */
  duration: number;
  /** Start in units of the track, or `EMPTY_EDIT`. */
  mediaTime: number;
  /** 16.16 fixed-point number. */
  rate: number;
}

/** `media_time` of an empty edit. */
export const EMPTY_EDIT = -1;
/** `media_rate` of 1, a 16.16 fixed-point number. */
export const NORMAL_RATE = 0x10000;

/** Reads the edit list of a `trak` box. A track without one gets an edit of the whole track. */
export async function readEdits(file: RangedFile, track: Mp4Box): Promise<StoredEdit[]> {
  const list = findBox(track, "edts", "elst");
  if (!list) return [{ duration: 0, mediaTime: 0, rate: NORMAL_RATE }];
  const header = await readContent(file, list, 0, 8);
  const [width, count] = [header.getUint8(0) === 0 ? 4 : 8, header.getUint32(4)];
  requireWithinBudget("edits", count);
  const view = await readContent(file, list, 8, 8 + count * (2 * width + 4));
  return Array.from({ length: count }, (_, i) => {
    const at = i * (2 * width + 4);
    const is64Bit = width === 8;
    const duration = is64Bit ? Number(view.getBigUint64(at)) : view.getUint32(at);
    const mediaTime = is64Bit ? Number(view.getBigInt64(at + 8)) : view.getInt32(at + 4);
    return { duration, mediaTime, rate: view.getInt32(at + 2 * width) };
  });
}

/** Makes an `edts` box. */
export function makeEditBox(edits: readonly StoredEdit[]): Uint8Array {
  const bytes = new Uint8Array(edits.length * 20);
  const view = toDataView(bytes);
  for (const [i, { duration, mediaTime, rate }] of edits.entries()) {
    view.setBigUint64(i * 20, BigInt(duration));
    view.setBigInt64(i * 20 + 8, BigInt(mediaTime));
    view.setInt32(i * 20 + 16, rate);
  }
  return makeBox("edts", makeBox("elst", [1 << 24, edits.length], bytes));
}

/**
 * Returns the shift that the container library makes of an edit list, the only part of it that the
 * library reads: the media time of the first edit that isn't empty, in units of the track, and the
 * pause before it, in units of the movie. Null if the list has no such edit.
 */
export function libraryShift(
  edits: readonly StoredEdit[],
): { mediaTime: number; delay: number } | null {
  const index = edits.findIndex(({ mediaTime }) => mediaTime !== EMPTY_EDIT);
  const edit = edits[index];
  if (!edit) return null;
  if (edit.rate !== NORMAL_RATE) return { mediaTime: 0, delay: 0 };
  const delay = edits.slice(0, index).reduce((sum, { duration }) => sum + duration, 0);
  return { mediaTime: edit.mediaTime, delay };
}

/**
 * Returns what an edit list presents of a track, in seconds and in the time that the container
 * library gives packets; null for all of it. Throws `unreadable_container` for more than a delay
 * and a cut, which the decoder reads.
 */
export function presentedRange(
  edits: readonly StoredEdit[],
  movieTimescale: number,
): TimeRange | null {
  const first = edits.findIndex(({ mediaTime }) => mediaTime !== EMPTY_EDIT);
  const edit = edits[first];
  if (!edit) return null;
  if (edit.rate !== NORMAL_RATE || first < edits.length - 1) {
    const message =
      "The video has several cuts or another speed in its edit list. Export it again.";
    throw new AppError("unreadable_container", message);
  }
  const start = libraryShift(edits)!.delay / movieTimescale;
  return { start, end: edit.duration > 0 ? start + edit.duration / movieTimescale : Infinity };
}
