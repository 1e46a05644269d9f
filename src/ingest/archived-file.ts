import { INGEST } from "../config.ts";
import { AppError } from "../errors.ts";
import { unreadableImage } from "../media/decoder-errors.ts";
import { readImageSize } from "../media/pixels/image-size.ts";
import { requireSmallJpeg } from "../media/pixels/jpeg.ts";
import type { ArchiveRecord } from "../store/r2/archive-record.ts";
import { parseFrameSignatures } from "../store/r2/frame-signatures.ts";
import { parseReferenceFrames } from "../store/r2/reference-frames.ts";
import { storyboardOf } from "../storyboard.ts";
import { windowRange } from "./segmentation/windows.ts";

/**
 * Checks that the bytes of an archived file, other than the source, are what an ingest stores under
 * its path, and returns what to store. Throws `unreadable_image` or `too_large` for a keyframe or
 * storyboard, and `download_refused` for others.
 */
export function checkArchivedFile(
  record: ArchiveRecord,
  path: string,
  bytes: Uint8Array<ArrayBuffer>,
): Uint8Array {
  if (path.startsWith("keyframes/")) return checkKeyframe(bytes);
  if (path === "storyboard.jpg") return checkStoryboard(record, bytes);
  const window = Number(/\d+/.exec(path)![0]);
  const checked = path.startsWith("frame-signatures/")
    ? checkSignatures(record, bytes)
    : checkReferenceFrames(record, window, bytes);
  if (checked === null) {
    const message = `The file ${path} isn't what its name says; export the index again.`;
    throw new AppError("download_refused", message);
  }
  return checked;
}

/** Checks by its headers that a keyframe is a JPEG of the size that an ingest makes. */
function checkKeyframe(bytes: Uint8Array): Uint8Array {
  requireSmallJpeg(bytes);
  const { width } = readImageSize(bytes)!;
  if (width <= INGEST.keyframeWidth) return bytes;
  const message = `A keyframe is ${width} pixels wide, more than ${INGEST.keyframeWidth}.`;
  throw new AppError("too_large", message);
}

/** Checks by its headers that a storyboard is a JPEG of the size that its layout has. */
function checkStoryboard(record: ArchiveRecord, bytes: Uint8Array): Uint8Array {
  requireSmallJpeg(bytes);
  const { tiles, columns, tile_width, tile_height } = storyboardOf(record)!;
  const { width, height } = readImageSize(bytes)!;
  const rows = Math.ceil(tiles / columns);
  if (width === columns * tile_width && height === rows * tile_height) return bytes;
  throw unreadableImage("a storyboard of another size than its layout has");
}

/** Returns the signatures in the form that an ingest writes; null for other bytes. */
function checkSignatures({ segments }: ArchiveRecord, bytes: Uint8Array): Uint8Array | null {
  const signatures = parseFrameSignatures(new TextDecoder().decode(bytes));
  const isValid = signatures?.every(({ position, ms }) => {
    const segment = segments[position];
    return segment !== undefined && ms >= segment.start_ms! && ms < segment.end_ms!;
  });
  return isValid ? new TextEncoder().encode(JSON.stringify(signatures)) : null;
}

function checkReferenceFrames(
  { duration_ms: durationMs }: ArchiveRecord,
  window: number,
  bytes: Uint8Array<ArrayBuffer>,
): Uint8Array | null {
  const { endMs } = windowRange({ durationMs }, window);
  const times = parseReferenceFrames(bytes.slice().buffer)?.times ?? [];
  const isOrdered = times.every((ms, i) => ms <= endMs && ms >= (times[i - 1] ?? 0));
  return times.length > 0 && isOrdered ? bytes : null;
}
