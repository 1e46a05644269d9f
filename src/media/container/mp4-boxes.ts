/** A file that is read by byte ranges. A range beyond its end gives the bytes that exist. */
export interface RangedFile {
  size: number;
  /** `use` says whether bytes there are likely to be read again, which they are by default. */
  read: (start: number, end: number, use?: "once") => Promise<Uint8Array>;
}

/**
 * A box of an ISO base media file, without its content (ISO/IEC 14496-12, 4.2). Offsets in bytes.
 */
export interface Mp4Box {
  type: string;
  start: number;
  /** End of the header. */
  contentStart: number;
  end: number;
  /** Boxes in a box whose type holds nothing but boxes. */
  children: Mp4Box[];
}

const CONTAINERS = new Set(["moov", "trak", "edts", "mdia", "minf", "stbl"]);
/** Types of box that an ISO base media or QuickTime file may begin with. */
const FIRST_TYPES = new Set(["ftyp", "moov", "mdat", "wide", "free", "skip", "pnot"]);
const MAX_HEADER_BYTES = 16;
/** Number of sibling boxes beyond which a file counts as damaged. */
const MAX_SIBLINGS = 10_000;

/** Returns the `moov` box with its children, null without a complete one. */
export async function findMoov(file: RangedFile): Promise<Mp4Box | null> {
  for await (const box of readBoxes(file, 0, file.size)) {
    if (box.start === 0 && !FIRST_TYPES.has(box.type)) return null;
    if (box.type === "moov") return box;
  }
  return null;
}

/**
 * Lists the boxes of a file without their children. The last one may promise more bytes than there
 * are. Returns none for a file that isn't an MP4.
 */
export async function listBoxes(file: RangedFile): Promise<Mp4Box[]> {
  const boxes: Mp4Box[] = [];
  for (let at = 0; ;) {
    const box = await readBox(file, at, file.size);
    if (!box || (at === 0 && !FIRST_TYPES.has(box.type))) return boxes;
    boxes.push(box);
    at = box.end;
  }
}

/** Reads the boxes from `start` to `end`, each with its children. Stops at a damaged box. */
async function* readBoxes(file: RangedFile, start: number, end: number): AsyncGenerator<Mp4Box> {
  let at = start;
  for (let count = 0; count < MAX_SIBLINGS; count++) {
    const box = await readBox(file, at, end);
    if (!box || box.end > end) return;
    at = box.end;
    if (CONTAINERS.has(box.type)) {
      for await (const child of readBoxes(file, box.contentStart, at)) box.children.push(child);
    }
    yield box;
  }
}

/** Reads the header of a box in bytes that end at `end`, null without one. */
async function readBox(file: RangedFile, at: number, end: number): Promise<Mp4Box | null> {
  if (at + 8 > end) return null;
  const header = toDataView(await file.read(at, Math.min(end, at + MAX_HEADER_BYTES)));
  let [size, contentStart] = [header.getUint32(0), at + 8];
  if (size === 1) {
    if (header.byteLength < MAX_HEADER_BYTES) return null;
    [size, contentStart] = [Number(header.getBigUint64(8)), at + 16];
  }
  if (size === 0) size = end - at; // to the end of the file
  if (at + size < contentStart) return null;
  return { type: readFourCc(header, 4), start: at, contentStart, end: at + size, children: [] };
}

/** Returns the first box along a path of types. */
export function findBox(box: Mp4Box, ...types: string[]): Mp4Box | undefined {
  return types.reduce<Mp4Box | undefined>(
    (parent, type) => parent?.children.find((child) => child.type === type),
    box,
  );
}

/** Reads the content of a box, or its bytes from `from` up to `to`, offsets into the content. */
export async function readContent(
  file: RangedFile,
  { contentStart, end }: Mp4Box,
  from = 0,
  to = Infinity,
): Promise<DataView> {
  return toDataView(await file.read(contentStart + from, Math.min(end, contentStart + to)));
}

/** Returns the units of a second, from `mvhd` or `mdhd`. Throws `RangeError` for none. */
export async function readTimescale(file: RangedFile, header: Mp4Box): Promise<number> {
  const view = await readContent(file, header, 0, 24);
  const timescale = view.getUint32(view.getUint8(0) === 0 ? 12 : 20);
  if (timescale === 0) throw new RangeError("the timescale is 0");
  return timescale;
}

/** Reads a four-character code, the name of a box or a handler. */
export function readFourCc({ buffer, byteOffset }: DataView, at: number): string {
  return String.fromCharCode(...new Uint8Array(buffer, byteOffset + at, 4));
}

export function toDataView({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** Makes a box of bytes and 32-bit numbers. */
export function makeBox(type: string, ...parts: (Uint8Array | number[])[]): Uint8Array {
  const contents = parts.map((part) => (part instanceof Uint8Array ? part : toUint32Bytes(part)));
  const size = contents.reduce((sum, { length }) => sum + length, 8);
  return Buffer.concat([toUint32Bytes([size]), Buffer.from(type, "latin1"), ...contents]);
}

function toUint32Bytes(numbers: number[]): Uint8Array {
  const bytes = new Uint8Array(numbers.length * 4);
  const view = toDataView(bytes);
  for (const [i, number] of numbers.entries()) view.setUint32(i * 4, number);
  return bytes;
}

/**
 * Returns the bytes of a box in which `replacements` stand for boxes in it; null leaves one out.
 * Boxes that are copied are read into memory.
 */
export async function rewriteBox(
  file: RangedFile,
  box: Mp4Box,
  replacements: ReadonlyMap<Mp4Box, Uint8Array | null>,
): Promise<Uint8Array> {
  const replacement = replacements.get(box);
  if (replacement !== undefined) return replacement ?? new Uint8Array();
  if (box.children.length === 0) return file.read(box.start, box.end);
  const children = await Promise.all(
    box.children.map((child) => rewriteBox(file, child, replacements)),
  );
  return makeBox(box.type, ...children);
}
