import { append } from "../../lists.ts";
import type { RangedFile } from "../container/mp4-boxes.ts";
import { readJpegSize } from "../pixels/image-size.ts";
import type { Size } from "../pixels/rect.ts";
import { ORIENTATION, readOrientation } from "./metadata-blocks.ts";
import { type Directory, openTiff, readDirectory, readNumbers, slice, type Tiff } from "./tiff.ts";

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

/** Finds the largest JPEG in a camera raw, null without one. */
export async function findRawPreview(file: RangedFile): Promise<RawPreview | null> {
  const tiff = await openTiff(file);
  const [ranges, orientation] = tiff ? await readJpegRanges(tiff) : [await readRafRange(file), 1];
  let largest: RawPreview | null = null;
  for (const { offset, length } of ranges) {
    const jpeg = slice(file, offset, length);
    const size = readJpegSize(await jpeg.read(0, JPEG_HEAD_BYTES));
    if (!size || size.width * size.height <= area(largest)) continue;
    largest = { offset, length: jpeg.size, size, rotate: ROTATIONS[orientation] ?? 0 };
  }
  if (!largest) return null;
  const preview = slice(file, largest.offset, largest.length);
  const isTurned = (await readOrientation(preview, "image/jpeg")) !== null;
  return isTurned ? { ...largest, rotate: 0 } : largest;
}

const area = (preview: RawPreview | null) =>
  preview ? preview.size.width * preview.size.height : 0;

async function readRafRange(file: RangedFile): Promise<Range[]> {
  const head = Buffer.from(await file.read(0, RAF.at + 8));
  const isRaf = head.length === RAF.at + 8 && head.toString("latin1").startsWith(RAF.signature);
  return isRaf
    ? [{ offset: head.readUInt32BE(RAF.at), length: head.readUInt32BE(RAF.at + 4) }]
    : [];
}

/** Returns where JPEGs are in a TIFF, and its orientation. */
async function readJpegRanges(tiff: Tiff): Promise<[Range[], number]> {
  const ranges: Range[] = [];
  let orientation = 1;
  const queue = [tiff.firstDirectory];
  for (let count = 0; count < MAX_DIRECTORIES && queue.length > 0; count++) {
    const directory = await readDirectory(tiff, queue.shift()!);
    if (!directory) continue;
    const numbers = (tag: number) => readNumbers(directory, tag);
    if (count === 0) orientation = (await numbers(ORIENTATION))[0] ?? 1;
    append(ranges, await readRange(directory));
    append(queue, await numbers(TAGS.subDirectories));
    if (directory.next > 0) queue.push(directory.next);
  }
  return [ranges, orientation];
}

/** Returns where the JPEG of a directory is: in one piece, or nowhere. */
async function readRange(directory: Directory): Promise<Range[]> {
  const numbers = (tag: number) => readNumbers(directory, tag);
  const [offset] = await numbers(TAGS.jpegOffset);
  const [length] = await numbers(TAGS.jpegLength);
  if (offset !== undefined && length !== undefined) return [{ offset, length }];
  const [compression = 0] = await numbers(TAGS.compression);
  const [strips, lengths] = [await numbers(TAGS.stripOffsets), await numbers(TAGS.stripLengths)];
  const isWhole = strips.length === 1 && lengths.length === 1;
  return isWhole && JPEG_COMPRESSIONS.has(compression)
    ? [{ offset: strips[0]!, length: lengths[0]! }]
    : [];
}
