import { append } from "../../lists.ts";
import type { RangedFile } from "../container/mp4-boxes.ts";
import { readJpegSize } from "../pixels/image-size.ts";
import type { Size } from "../pixels/rect.ts";
import { readOrientation, readWhole } from "./image-tags.ts";
import { type Directory, openTiff, type Tiff } from "./tiff.ts";

/** Where bytes are in a file. */
interface Range {
  offset: number;
  length: number;
}

/** A JPEG in a camera raw. */
export interface RawPreview extends Range {
  size: Size;
  /** Degrees clockwise by which the JPEG must be rotated; 0 if its own EXIF says so. */
  rotate: 0 | 90 | 180 | 270;
}

const TAGS = {
  compression: 0x0103,
  stripOffsets: 0x0111,
  orientation: 0x0112,
  stripLengths: 0x0117,
  subDirectories: 0x014a,
  jpegOffset: 0x0201,
  jpegLength: 0x0202,
};
const JPEG_COMPRESSIONS = new Set([6, 7]);
/** Rotation by EXIF orientation. Cameras don't mirror. */
export const ROTATIONS: Readonly<Record<number, 90 | 180 | 270>> = { 3: 180, 6: 90, 8: 270 };
/** Directories of a raw that are looked at, and bytes of a JPEG in which its size is. */
const [MAX_DIRECTORIES, JPEG_HEAD_BYTES] = [16, 128 * 1024];
/** Where a Fujifilm RAF says where its JPEG is. */
const RAF = { signature: "FUJIFILMCCD-RAW", at: 84 };

/** Finds the largest JPEG in a camera raw, which has 20 MiB at most; null without one. */
export async function findRawPreview(file: RangedFile): Promise<RawPreview | null> {
  const bytes = await readWhole(file);
  const tiff = openTiff(bytes);
  const { ranges, orientation } = tiff
    ? readTiff(tiff)
    : { ranges: readRaf(bytes), orientation: 1 };
  let largest: RawPreview | null = null;
  for (const { offset, length } of ranges) {
    const jpeg = bytes.subarray(offset, offset + length);
    const size = readJpegSize(jpeg.subarray(0, JPEG_HEAD_BYTES));
    if (!size || size.width * size.height <= area(largest)) continue;
    largest = { offset, length: jpeg.length, size, rotate: ROTATIONS[orientation] ?? 0 };
  }
  if (!largest) return null;
  const preview = slice(file, largest.offset, largest.length);
  const isTurned = (await readOrientation(preview)) !== null;
  return isTurned ? { ...largest, rotate: 0 } : largest;
}

const area = (preview: RawPreview | null) =>
  preview ? preview.size.width * preview.size.height : 0;

/** Returns a part of a file as a file. */
export function slice(file: RangedFile, start: number, size: number): RangedFile {
  const end = Math.min(file.size, start + size);
  return {
    size: Math.max(0, end - start),
    read: (from, to) => file.read(start + from, Math.max(start + from, Math.min(end, start + to))),
  };
}

function readRaf(bytes: Buffer): Range[] {
  const isRaf = bytes.length >= RAF.at + 8 && bytes.toString("latin1", 0, 15) === RAF.signature;
  return isRaf
    ? [{ offset: bytes.readUInt32BE(RAF.at), length: bytes.readUInt32BE(RAF.at + 4) }]
    : [];
}

/** Returns where JPEGs are in a TIFF, and its orientation. */
function readTiff({ firstOffset, directory }: Tiff): { ranges: Range[]; orientation: number } {
  const ranges: Range[] = [];
  let orientation = 1;
  const queue = [firstOffset];
  for (let count = 0; count < MAX_DIRECTORIES && queue.length > 0; count++) {
    const found = directory(queue.shift()!);
    if (!found) continue;
    if (count === 0) orientation = found.numbers(TAGS.orientation)[0] ?? 1;
    append(ranges, jpegRange(found));
    append(queue, found.numbers(TAGS.subDirectories));
    if (found.next > 0) queue.push(found.next);
  }
  return { ranges, orientation };
}

/** Returns where the JPEG of a directory is: in one piece, or nowhere. */
function jpegRange(directory: Directory): Range[] {
  const numbers = (tag: number) => directory.numbers(tag);
  const [offset] = numbers(TAGS.jpegOffset);
  const [length] = numbers(TAGS.jpegLength);
  if (offset !== undefined && length !== undefined) return [{ offset, length }];
  const [compression = 0] = numbers(TAGS.compression);
  const [strips, lengths] = [numbers(TAGS.stripOffsets), numbers(TAGS.stripLengths)];
  const isWhole = strips.length === 1 && lengths.length === 1;
  return isWhole && JPEG_COMPRESSIONS.has(compression)
    ? [{ offset: strips[0]!, length: lengths[0]! }]
    : [];
}
