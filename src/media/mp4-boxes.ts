/** A file that is read by ranges: bytes from `start` to `end`, or as many of them as there are. */
export interface RangedFile {
  size: number;
  read: (start: number, end: number) => Promise<Uint8Array>;
}

/** A box of an ISO base media file, without its content (ISO/IEC 14496-12, 4.2). Positions in the file, in bytes. */
export interface Box {
  type: string;
  start: number;
  /** Where its header ends. */
  content: number;
  end: number;
  /** Those in it, of a type that holds nothing else. */
  children: Box[];
}

const CONTAINERS = new Set(["moov", "trak", "edts", "mdia", "minf", "stbl"]);
/** What an ISO base media or QuickTime file may begin with. */
const FIRST = new Set(["ftyp", "moov", "mdat", "wide", "free", "skip", "pnot"]);
const LONGEST_HEADER = 16;
/** Boxes side by side, beyond which a file is damaged. */
const MOST = 10_000;

/** The box `moov` with those in it, or null where the file has none that is whole. */
export async function findMovie(file: RangedFile): Promise<Box | null> {
  for await (const box of boxesIn(file, 0, file.size)) {
    if (box.start === 0 && !FIRST.has(box.type)) return null;
    if (box.type === "moov") return box;
  }
  return null;
}

/** The boxes from `start` to `end`, each with those in it; what is damaged ends them. */
async function* boxesIn(file: RangedFile, start: number, end: number): AsyncGenerator<Box> {
  let at = start;
  for (let count = 0; at + 8 <= end && count < MOST; count++) {
    const header = viewOf(await file.read(at, Math.min(end, at + LONGEST_HEADER)));
    const type = nameIn(header, 4);
    let [size, content] = [header.getUint32(0), at + 8];
    if (size === 1) {
      if (header.byteLength < LONGEST_HEADER) return;
      [size, content] = [Number(header.getBigUint64(8)), at + 16];
    }
    if (size === 0) size = end - at; // to the end of the file
    if (at + size > end || at + size < content) return;
    const box: Box = { type, start: at, content, end: at + size, children: [] };
    at = box.end;
    if (CONTAINERS.has(type)) {
      for await (const child of boxesIn(file, content, at)) box.children.push(child);
    }
    yield box;
  }
}

/** The first box along a path of types. */
export function boxAt(box: Box, ...types: string[]): Box | undefined {
  return types.reduce<Box | undefined>(
    (inside, type) => inside?.children.find((child) => child.type === type),
    box,
  );
}

/** What is in a box, or its bytes from `from` up to `to`, counted from the beginning of the content. */
export async function contentOf(
  file: RangedFile,
  { content, end }: Box,
  from = 0,
  to = Infinity,
): Promise<DataView> {
  return viewOf(await file.read(content + from, Math.min(end, content + to)));
}

/** Four characters, as boxes and handlers are named. */
export function nameIn({ buffer, byteOffset }: DataView, at: number): string {
  return String.fromCharCode(...new Uint8Array(buffer, byteOffset + at, 4));
}

export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** A box of these bytes, or of numbers of 32 bits. */
export function makeBox(type: string, ...parts: (Uint8Array | number[])[]): Uint8Array {
  const contents = parts.map((part) => (part instanceof Uint8Array ? part : words(part)));
  const size = contents.reduce((sum, { length }) => sum + length, 8);
  return Buffer.concat([words([size]), Buffer.from(type, "latin1"), ...contents]);
}

function words(numbers: number[]): Uint8Array {
  const bytes = new Uint8Array(numbers.length * 4);
  const view = viewOf(bytes);
  for (const [i, number] of numbers.entries()) view.setUint32(i * 4, number);
  return bytes;
}

/**
 * The bytes of a box, in which others stand for some of those in it; null leaves one out. What is copied is
 * read whole.
 */
export async function rewriteBox(
  file: RangedFile,
  box: Box,
  others: ReadonlyMap<Box, Uint8Array | null>,
): Promise<Uint8Array> {
  const other = others.get(box);
  if (other !== undefined) return other ?? new Uint8Array();
  if (box.children.length === 0) return file.read(box.start, box.end);
  const inside = await Promise.all(box.children.map((child) => rewriteBox(file, child, others)));
  return makeBox(box.type, ...inside);
}
