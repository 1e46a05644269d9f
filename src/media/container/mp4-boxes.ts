import { AppError } from "../../errors.ts";
import { requireWithinBudget } from "../structure-budget.ts";

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

const CONTAINERS = new Set(["moov", "trak", "edts", "mdia", "minf", "stbl", "mvex"]);
/** Types of box that an ISO base media or QuickTime file may begin with. */
const FIRST_TYPES = new Set(["ftyp", "moov", "mdat", "wide", "free", "skip", "pnot"]);
const MAX_HEADER_BYTES = 16;
/** Headers are read in blocks: tiny boxes don't take a read each. */
const BLOCK_BYTES = 4096;

/** Returns the `moov` box with its children, null without a complete one. */
export async function findMoov(file: RangedFile): Promise<Mp4Box | null> {
  const headers = new BoxHeaders(file);
  for await (const box of topLevelBoxes(file, headers)) {
    if (box.type !== "moov" || box.end > file.size) continue;
    box.children = await readChildren(headers, box, { boxes: 0 }, 1);
    return box;
  }
  return null;
}

/**
 * Reads the boxes of a file without their children. The last one may promise more bytes than there
 * are. Yields none of a file that isn't an MP4.
 */
export async function* topLevelBoxes(
  file: RangedFile,
  headers = new BoxHeaders(file),
): AsyncGenerator<Mp4Box> {
  let at = 0;
  for (let count = 1; ; count++) {
    const box = await headers.read(at, file.size);
    if (!box || (at === 0 && !FIRST_TYPES.has(box.type))) return;
    requireWithinBudget("boxes", count);
    yield box;
    at = box.end;
  }
}

/** Reads the boxes in a box, each with its children, up to a damaged one. */
async function readChildren(
  headers: BoxHeaders,
  { contentStart, end }: Mp4Box,
  total: { boxes: number },
  depth: number,
): Promise<Mp4Box[]> {
  requireWithinBudget("boxes in boxes", depth);
  const children: Mp4Box[] = [];
  for (let at = contentStart; ;) {
    const box = await headers.read(at, end);
    if (!box || box.end > end) return children;
    requireWithinBudget("boxes in its index", ++total.boxes);
    if (CONTAINERS.has(box.type)) {
      box.children = await readChildren(headers, box, total, depth + 1);
    }
    children.push(box);
    at = box.end;
  }
}

/** Reads headers of boxes, and keeps the bytes around the last one. */
class BoxHeaders {
  readonly #file: RangedFile;
  #block: DataView = new DataView(new ArrayBuffer(0));
  #blockStart = 0;

  constructor(file: RangedFile) {
    this.#file = file;
  }

  /** Reads the header of a box in bytes that end at `end`, null without one. */
  async read(at: number, end: number): Promise<Mp4Box | null> {
    if (at + 8 > end) return null;
    const headerEnd = Math.min(end, at + MAX_HEADER_BYTES);
    if (at < this.#blockStart || headerEnd > this.#blockStart + this.#block.byteLength) {
      const blockEnd = Math.min(this.#file.size, at + BLOCK_BYTES);
      this.#block = toDataView(await this.#file.read(at, blockEnd));
      this.#blockStart = at;
    }
    const header = at - this.#blockStart;
    let [size, contentStart] = [this.#block.getUint32(header), at + 8];
    if (size === 1) {
      if (headerEnd < at + MAX_HEADER_BYTES) return null;
      [size, contentStart] = [Number(this.#block.getBigUint64(header + 8)), at + 16];
    }
    if (size === 0) size = end - at; // to the end of the file
    if (at + size < contentStart) return null;
    const type = readFourCc(this.#block, header + 4);
    return { type, start: at, contentStart, end: at + size, children: [] };
  }
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

/** Returns the type of a track, such as `vide`; null without one. */
export async function readHandler(file: RangedFile, track: Mp4Box): Promise<string | null> {
  const handler = findBox(track, "mdia", "hdlr");
  return handler ? readFourCc(await readContent(file, handler, 8, 12), 0) : null;
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
 * Boxes that are copied are read into memory: `copied` counts their bytes.
 */
export async function rewriteBox(
  file: RangedFile,
  box: Mp4Box,
  replacements: ReadonlyMap<Mp4Box, Uint8Array | null>,
  copied = { bytes: 0 },
): Promise<Uint8Array> {
  const replacement = replacements.get(box);
  if (replacement !== undefined) return replacement ?? new Uint8Array();
  if (box.children.length === 0) {
    copied.bytes += box.end - box.start;
    requireWithinBudget("bytes in its index besides samples", copied.bytes);
    const bytes = Buffer.from(await file.read(box.start, box.end));
    const isHidden = bytes.includes("stbl", 8) || bytes.includes("tfra", 8);
    if (isHidden) throw new RangeError(`there are tables in the box ${box.type}`);
    return bytes;
  }
  const children: Uint8Array[] = [];
  for (const child of box.children) {
    children.push(await rewriteBox(file, child, replacements, copied));
  }
  return makeBox(box.type, ...children);
}

/** An entry of an edit list as it is stored (`elst`: ISO/IEC 14496-12, 8.6.6). */
interface StoredEdit {
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

/**
 * Reads what the edit list of a `trak` box presents: one edit, behind a pause of `delay` units of
 * the movie. An edit of no duration, as that of a track without a list, is all of the track. Throws
 * `unreadable_container` for other lists, which the decoder reads.
 */
export async function readEdit(file: RangedFile, track: Mp4Box) {
  const whole = { duration: 0, mediaTime: 0, delay: 0 };
  const list = findBox(track, "edts", "elst");
  if (!list) return whole;
  const header = await readContent(file, list, 0, 8);
  const [isLong, count] = [header.getUint8(0) !== 0, header.getUint32(4)];
  if (count === 0) return whole;
  requireWithinBudget("edits", count);
  const bytes = isLong ? 20 : 12;
  const view = await readContent(file, list, 8, 8 + count * bytes);
  let delay = 0;
  for (let at = 0; at < count * bytes; at += bytes) {
    const duration = isLong ? Number(view.getBigUint64(at)) : view.getUint32(at);
    const mediaTime = isLong ? Number(view.getBigInt64(at + 8)) : view.getInt32(at + 4);
    const isLast = at + bytes === count * bytes;
    if (mediaTime === EMPTY_EDIT) delay += duration;
    else if (!isLast || view.getInt32(at + bytes - 4) !== NORMAL_RATE) break;
    else return { duration, mediaTime, delay };
  }
  const message = "The video has several cuts or another speed in its edit list. Export it again.";
  throw new AppError("unreadable_container", message);
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
