import type { RangedFile } from "../container/mp4-boxes.ts";
import type { Size } from "../pixels/rect.ts";

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
  entries: Map<number, TiffEntry>;
  /** Offset of the directory that follows; 0 after the last one. */
  next: number;
}

/** Bytes of a value by its type, 0 for types that aren't read. */
const TYPE_BYTES = [0, 1, 1, 2, 4, 8, 0, 1, 0, 4, 8];
const [ASCII, SHORT, LONG, RATIONAL] = [2, 3, 4, 5];
/** More than a file has, but for hostile ones. */
const [MAX_ENTRIES, MAX_VALUES, MAX_CHARACTERS] = [500, 64, 1000];

/** Opens a TIFF; null for another file. */
export async function openTiff(file: RangedFile): Promise<Tiff | null> {
  const header = toView(await file.read(0, 8));
  if (header.byteLength < 8) return null;
  const order = header.getUint16(0);
  if (order !== 0x4949 && order !== 0x4d4d) return null;
  const isLittleEndian = order === 0x4949;
  if (header.getUint16(2, isLittleEndian) !== 42) return null;
  return { file, isLittleEndian, firstDirectory: header.getUint32(4, isLittleEndian) };
}

/** Reads a directory; null for a damaged one, and for one beyond the end. */
export async function readDirectory(tiff: Tiff, offset: number): Promise<Directory | null> {
  const { file, isLittleEndian: little } = tiff;
  if (offset < 8 || offset + 2 > file.size) return null;
  const count = toView(await file.read(offset, offset + 2)).getUint16(0, little);
  const view = toView(await file.read(offset + 2, offset + 6 + 12 * count));
  if (count > MAX_ENTRIES || view.byteLength < 12 * count) return null;
  const entries = new Map<number, TiffEntry>();
  for (let at = 0; at < 12 * count; at += 12) {
    const [type, values] = [view.getUint16(at + 2, little), view.getUint32(at + 4, little)];
    const isInline = (TYPE_BYTES[type] ?? 0) * values <= 4;
    const valueAt = isInline ? offset + 2 + at + 8 : view.getUint32(at + 8, little);
    entries.set(view.getUint16(at, little), { type, count: values, at: valueAt });
  }
  const hasNext = view.byteLength >= 12 * count + 4;
  return { entries, next: hasNext ? view.getUint32(12 * count, little) : 0 };
}

/** Returns the numbers of a tag, at most 64; none without the tag. A quotient may be NaN. */
export async function readNumbers(
  tiff: Tiff,
  { entries }: Directory,
  tag: number,
): Promise<number[]> {
  const entry = entries.get(tag);
  const size = TYPE_BYTES[entry?.type ?? 0] ?? 0;
  if (!entry || size === 0 || entry.type === ASCII) return [];
  const count = Math.min(entry.count, MAX_VALUES);
  const view = toView(await tiff.file.read(entry.at, entry.at + count * size));
  const little = tiff.isLittleEndian;
  return Array.from({ length: Math.floor(view.byteLength / size) }, (_, i) => {
    const at = i * size;
    if (entry.type === SHORT) return view.getUint16(at, little);
    if (entry.type === LONG) return view.getUint32(at, little);
    if (entry.type === RATIONAL) return view.getUint32(at, little) / view.getUint32(at + 4, little);
    return size === 1 ? view.getUint8(at) : NaN;
  });
}

/** Returns the text of a tag up to its first NUL, at most 1,000 characters; "" without the tag. */
export async function readText(tiff: Tiff, { entries }: Directory, tag: number): Promise<string> {
  const entry = entries.get(tag);
  if (entry?.type !== ASCII) return "";
  const length = Math.min(entry.count, MAX_CHARACTERS);
  const bytes = await tiff.file.read(entry.at, entry.at + length);
  return new TextDecoder().decode(bytes).split("\0", 1)[0]!;
}

/** Returns a part of a file as a file. */
export function slice(file: RangedFile, start: number, size: number): RangedFile {
  const end = Math.min(file.size, start + size);
  return {
    size: Math.max(0, end - start),
    read: (from, to) => file.read(start + from, Math.max(start + from, Math.min(end, start + to))),
  };
}

function toView({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

const [WIDTH, LENGTH] = [256, 257];

/** Reads the size of a TIFF from wherever it is; undefined for a damaged file and a BigTIFF. */
export async function readTiffSize(file: RangedFile): Promise<Size | undefined> {
  const tiff = await openTiff(file);
  const directory = tiff && (await readDirectory(tiff, tiff.firstDirectory));
  if (!directory) return undefined;
  const [width] = await readNumbers(tiff, directory, WIDTH);
  const [height] = await readNumbers(tiff, directory, LENGTH);
  return width && height ? { width, height } : undefined;
}
