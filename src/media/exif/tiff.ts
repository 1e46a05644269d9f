import { type RangedFile, toDataView } from "../container/mp4-boxes.ts";

/** A TIFF, or an EXIF block, which is made like one (TIFF 6.0; CIPA DC-008). */
export interface Tiff {
  file: RangedFile;
  isLittleEndian: boolean;
  firstDirectory: number;
}

interface TiffEntry {
  type: number;
  count: number;
  /** Offset of the value in the file. */
  at: number;
}

export interface Directory {
  tiff: Tiff;
  entries: Map<number, TiffEntry>;
  /** Offset of the directory that follows; 0 after the last one. */
  next: number;
}

/** Bytes of a value by its type, 0 for types that aren't read. */
const TYPE_BYTES = [0, 1, 1, 2, 4, 8, 0, 1, 0, 4, 8];
const [ASCII, SHORT, LONG, RATIONAL] = [2, 3, 4, 5];
export const SIGNED_RATIONAL = 10;
/** More than a file has, but for hostile ones. */
const [MAX_ENTRIES, MAX_VALUES, MAX_CHARACTERS] = [500, 64, 1000];

/** Opens a TIFF; null for another file. */
export async function openTiff(file: RangedFile): Promise<Tiff | null> {
  const header = toDataView(await file.read(0, 8));
  if (header.byteLength < 8) return null;
  const order = header.getUint16(0);
  if (order !== 0x4949 && order !== 0x4d4d) return null;
  const isLittleEndian = order === 0x4949;
  if (header.getUint16(2, isLittleEndian) !== 42) return null;
  return { file, isLittleEndian, firstDirectory: header.getUint32(4, isLittleEndian) };
}

/** Reads the first directory of a TIFF; null for another file, and for a damaged one. */
export async function readFirstDirectory(file: RangedFile): Promise<Directory | null> {
  const tiff = await openTiff(file);
  return tiff && readDirectory(tiff, tiff.firstDirectory);
}

/** Reads a directory; null for a damaged one, and for one beyond the end. */
export async function readDirectory(tiff: Tiff, offset: number): Promise<Directory | null> {
  const { file, isLittleEndian: little } = tiff;
  if (offset < 8 || offset + 2 > file.size) return null;
  const count = toDataView(await file.read(offset, offset + 2)).getUint16(0, little);
  const view = toDataView(await file.read(offset + 2, offset + 6 + 12 * count));
  if (count > MAX_ENTRIES || view.byteLength < 12 * count) return null;
  const entries = new Map<number, TiffEntry>();
  for (let at = 0; at < 12 * count; at += 12) {
    const [type, values] = [view.getUint16(at + 2, little), view.getUint32(at + 4, little)];
    const isInline = (TYPE_BYTES[type] ?? 0) * values <= 4;
    const valueAt = isInline ? offset + 2 + at + 8 : view.getUint32(at + 8, little);
    entries.set(view.getUint16(at, little), { type, count: values, at: valueAt });
  }
  const hasNext = view.byteLength >= 12 * count + 4;
  return { tiff, entries, next: hasNext ? view.getUint32(12 * count, little) : 0 };
}

/**
 * Returns the numbers of a tag, at most 64, of its own type or of the one that is given; none
 * without the tag. A quotient may be NaN.
 */
export async function readNumbers(
  directory: Directory | null,
  tag: number,
  type = directory?.entries.get(tag)?.type ?? 0,
): Promise<number[]> {
  const entry = directory?.entries.get(tag);
  const size = TYPE_BYTES[type] ?? 0;
  if (!entry || size === 0 || type === ASCII) return [];
  const count = Math.min(entry.count, MAX_VALUES);
  const { file, isLittleEndian: little } = directory!.tiff;
  const view = toDataView(await file.read(entry.at, entry.at + count * size));
  return Array.from({ length: Math.floor(view.byteLength / size) }, (_, i) => {
    const at = i * size;
    if (type === SHORT) return view.getUint16(at, little);
    if (type === LONG) return view.getUint32(at, little);
    if (type === RATIONAL) return view.getUint32(at, little) / view.getUint32(at + 4, little);
    if (type === SIGNED_RATIONAL) return view.getInt32(at, little) / view.getInt32(at + 4, little);
    return size === 1 ? view.getUint8(at) : NaN;
  });
}

/** Tags of Windows, whose texts are bytes of UTF-16. */
const WIDE_TAGS = { first: 0x9c9b, last: 0x9c9f };

/** Returns the text of a tag up to its first NUL, at most 1,000 characters; "" without the tag. */
export async function readText(directory: Directory | null, tag: number): Promise<string> {
  const isWide = tag >= WIDE_TAGS.first && tag <= WIDE_TAGS.last;
  const isText = isWide || directory?.entries.get(tag)?.type === ASCII;
  const bytes = isText ? await readBlock(directory, tag)?.read(0, MAX_CHARACTERS) : undefined;
  return new TextDecoder(isWide ? "utf-16le" : "utf-8").decode(bytes).split("\0", 1)[0]!;
}

/** Returns the bytes of a tag as a file; null without the tag. */
export function readBlock(directory: Directory | null, tag: number): RangedFile | null {
  const entry = directory?.entries.get(tag);
  if (!entry) return null;
  return slice(directory!.tiff.file, entry.at, entry.count * (TYPE_BYTES[entry.type] ?? 0));
}

/** Returns a part of a file as a file. */
export function slice(file: RangedFile, start: number, size: number): RangedFile {
  const end = Math.min(file.size, start + size);
  return {
    size: Math.max(0, end - start),
    read: (from, to) => file.read(start + from, Math.max(start + from, Math.min(end, start + to))),
  };
}
