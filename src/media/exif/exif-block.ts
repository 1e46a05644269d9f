import type { RangedFile } from "../container/mp4-boxes.ts";
import { boxesOf, findContent, fourCc } from "../pixels/boxes.ts";
import { openTiff, readDirectory, readNumbers, slice } from "./tiff.ts";

/** Bytes in which a JPEG's EXIF begins: it comes first, or behind a small segment. */
const JPEG_HEAD_BYTES = 128 * 1024;
/** More than the description of the items of an image takes, but for hostile ones. */
const MAX_META_BYTES = 1024 * 1024;
/** Chunks of a PNG or WebP that are looked at. */
const MAX_CHUNKS = 64;

/** Returns the EXIF block of an image, null without one. A file of another format is its own. */
export async function findExif(file: RangedFile, contentType: string): Promise<RangedFile | null> {
  switch (contentType) {
    case "image/jpeg":
      return findInJpeg(file);
    case "image/png":
      return findChunk(file, 8, "eXIf", ({ head }) => ({
        type: fourCc(head, 4),
        length: head.readUInt32BE(0),
        next: 12 + head.readUInt32BE(0),
      }));
    case "image/webp":
      return findInWebp(file);
    case "image/heic":
    case "image/heic-sequence":
    case "image/heif":
    case "image/heif-sequence":
    case "image/avif":
      return findItem(file);
    default:
      return file; // a TIFF, or a camera raw that is made like one
  }
}

/** Tag of the orientation, which says how the stored pixels are turned. */
export const ORIENTATION = 0x0112;

/** Returns the EXIF orientation of an image, from 1 to 8; null if it says none. */
export async function readOrientation(
  file: RangedFile,
  contentType: string,
): Promise<number | null> {
  const block = await findExif(file, contentType);
  const tiff = block && (await openTiff(block));
  const directory = tiff && (await readDirectory(tiff, tiff.firstDirectory));
  if (!directory?.entries.has(ORIENTATION)) return null;
  return (await readNumbers(tiff!, directory, ORIENTATION))[0] ?? null;
}

async function findInJpeg(file: RangedFile): Promise<RangedFile | null> {
  const head = Buffer.from(await file.read(0, JPEG_HEAD_BYTES));
  for (let at = 2; at + 10 <= head.length && head[at] === 0xff;) {
    const [marker, length] = [head[at + 1], head.readUInt16BE(at + 2)];
    if (marker === 0xda) return null; // the pixels begin
    if (marker === 0xe1 && head.toString("latin1", at + 4, at + 10) === "Exif\0\0") {
      return slice(file, at + 10, length - 8);
    }
    at += 2 + length;
  }
  return null;
}

async function findInWebp(file: RangedFile): Promise<RangedFile | null> {
  const block = await findChunk(file, 12, "EXIF", ({ head }) => {
    const length = head.readUInt32LE(4);
    return { type: fourCc(head, 0), length, next: 8 + length + (length % 2) };
  });
  if (!block) return null;
  const hasPrefix = Buffer.from(await block.read(0, 6)).toString("latin1") === "Exif\0\0";
  return hasPrefix ? slice(block, 6, block.size - 6) : block;
}

interface Chunk {
  type: string;
  /** Bytes of its content, which follow 8 bytes of header. */
  length: number;
  /** Bytes until the next chunk. */
  next: number;
}

/** Looks through chunks that follow each other from `start`. */
async function findChunk(
  file: RangedFile,
  start: number,
  type: string,
  readHeader: (bytes: { head: Buffer }) => Chunk,
): Promise<RangedFile | null> {
  let at = start;
  for (let count = 0; at + 8 <= file.size && count < MAX_CHUNKS; count++) {
    const chunk = readHeader({ head: Buffer.from(await file.read(at, at + 8)) });
    if (chunk.type === type) return slice(file, at + 8, chunk.length);
    at += chunk.next;
  }
  return null;
}

/** Finds the item of the type `Exif` in a HEIF file (ISO/IEC 23008-12, A.2.1). */
async function findItem(file: RangedFile): Promise<RangedFile | null> {
  const head = Buffer.from(await file.read(0, MAX_META_BYTES));
  const meta = findContent(head, "meta");
  const itemInfo = meta && findContent(meta, "iinf");
  const locations = meta && findContent(meta, "iloc");
  if (!itemInfo || !locations) return null;
  try {
    const id = findExifId(itemInfo);
    const extent = id === null ? null : findExtent(locations, id);
    if (!extent) return null;
    const item = slice(file, extent.offset, extent.length);
    const prefix = Buffer.from(await item.read(0, 4)).readUInt32BE(0);
    return slice(item, 4 + prefix, item.size);
  } catch (error) {
    if (error instanceof RangeError) return null; // damaged
    throw error;
  }
}

/** Returns the id of the `Exif` item in a box `iinf` (ISO/IEC 14496-12, 8.11.6). */
function findExifId(itemInfo: Buffer): number | null {
  const countBytes = itemInfo.readUInt8(0) === 0 ? 2 : 4;
  for (const { type, content } of boxesOf(itemInfo.subarray(4 + countBytes))) {
    const version = type === "infe" ? content.readUInt8(0) : 0;
    if (version < 2) continue;
    const idBytes = version === 2 ? 2 : 4;
    if (fourCc(content, 4 + idBytes + 2) === "Exif") return content.readUIntBE(4, idBytes);
  }
  return null;
}

/** Returns where the first extent of an item is, by a box `iloc` (ISO/IEC 14496-12, 8.11.3). */
function findExtent(iloc: Buffer, id: number): { offset: number; length: number } | null {
  const version = iloc.readUInt8(0);
  const sizes = iloc.readUInt16BE(4);
  const [offsetBytes, lengthBytes, baseBytes] = [sizes >> 12, (sizes >> 8) & 15, (sizes >> 4) & 15];
  const indexBytes = version === 0 ? 0 : sizes & 15;
  let at = 6;
  const read = (bytes: number) => {
    at += bytes;
    if (bytes === 8) return Number(iloc.readBigUInt64BE(at - 8));
    return bytes === 0 ? 0 : iloc.readUIntBE(at - bytes, bytes);
  };
  const idBytes = version < 2 ? 2 : 4;
  for (let items = read(idBytes); items > 0; items--) {
    const itemId = read(idBytes);
    const method = version === 0 ? 0 : read(2) & 15;
    read(2); // the file that has the data: this one
    const base = read(baseBytes);
    for (let extents = read(2), i = 0; i < extents; i++) {
      read(indexBytes);
      const [offset, length] = [base + read(offsetBytes), read(lengthBytes)];
      const isInFile = method === 0;
      if (itemId === id) return isInFile ? { offset, length } : null;
    }
  }
  return null;
}
