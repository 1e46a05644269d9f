import type { RangedFile } from "../container/mp4-boxes.ts";
import { readJpegSize } from "../pixels/image-size.ts";
import type { Size } from "../pixels/rect.ts";
import { readOrientation, readWhole } from "./image-tags.ts";

/** A JPEG in a camera raw. */
export interface RawPreview {
  /** Where its bytes are in the file. */
  offset: number;
  length: number;
  size: Size;
  /** Degrees clockwise by which the JPEG must be rotated; 0 if its own EXIF says so. */
  rotate: 0 | 90 | 180 | 270;
}

/** Rotation by EXIF orientation. Cameras don't mirror. */
export const ROTATIONS: Readonly<Record<number, 90 | 180 | 270>> = { 3: 180, 6: 90, 8: 270 };
/** What a JPEG begins and ends with (T.81, B.1.1.3). */
const [START, END] = [Buffer.from([0xff, 0xd8, 0xff]), Buffer.from([0xff, 0xd9])];
const START_OF_SCAN = 0xda;
/** Beginnings that are looked at: a DNG has hundreds of tiles. Bytes in which a size is. */
const [MAX_STARTS, JPEG_HEAD_BYTES] = [1000, 128 * 1024];

/** Finds the largest JPEG in a camera raw, which has 20 MiB at most; null without one. */
export async function findRawPreview(file: RangedFile): Promise<RawPreview | null> {
  const bytes = await readWhole(file);
  let largest: { offset: number; size: Size } | null = null;
  let offset = -1;
  for (let count = 0; count < MAX_STARTS; count++) {
    offset = bytes.indexOf(START, offset + 1);
    if (offset < 0) break;
    const size = readJpegSize(bytes.subarray(offset, offset + JPEG_HEAD_BYTES));
    if (size && (!largest || area(size) > area(largest.size))) largest = { offset, size };
  }
  if (!largest) return null;
  const length = jpegEnd(bytes, largest.offset) - largest.offset;
  const ownOrientation = await readOrientation(slice(file, largest.offset, length));
  const orientation = ownOrientation === null ? await readOrientation(file) : null;
  return { ...largest, length, rotate: ROTATIONS[orientation ?? 1] ?? 0 };
}

const area = ({ width, height }: Size) => width * height;

/** Returns where a JPEG ends, whose segments may have another in them. */
function jpegEnd(bytes: Buffer, start: number): number {
  let at = start + 2;
  while (at + 4 <= bytes.length && bytes[at + 1] !== START_OF_SCAN) {
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  const end = bytes.indexOf(END, at);
  return end < 0 ? bytes.length : end + END.length;
}

/** Returns a part of a file as a file. */
export function slice(file: RangedFile, start: number, size: number): RangedFile {
  const end = Math.min(file.size, start + size);
  return {
    size: Math.max(0, end - start),
    read: (from, to) => file.read(start + from, Math.max(start + from, Math.min(end, start + to))),
  };
}
