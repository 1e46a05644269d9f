import { requireWithinBudget } from "../structure-budget.ts";
import type { RangedFile } from "./mp4-boxes.ts";

/** An element of an EBML file (RFC 8794), without its content. Offsets in bytes. */
interface Element {
  id: number;
  contentStart: number;
  /** Infinity where the size isn't known. */
  end: number;
}

const ID = {
  ebml: 0x1a45dfa3,
  segment: 0x18538067,
  info: 0x1549a966,
  dateUtc: 0x4461,
  title: 0x7ba9,
  chapters: 0x1043a770,
  chapterName: 0x85,
  cluster: 0x1f43b675,
  tracks: 0x1654ae6b,
  track: 0xae,
  contentEncodings: 0x6d80,
  contentEncoding: 0x6240,
  contentEncryption: 0x5035,
  seek: 0x4dbb,
  cuePoint: 0xbb,
  cueTime: 0xb3,
  cuePositions: 0xb7,
  cueTrack: 0xf7,
  blockGroup: 0xa0,
  block: 0xa1,
  simpleBlock: 0xa3,
  tag: 0x7373,
  simpleTag: 0x67c8,
  attachedFile: 0x61a7,
};
const MAX_HEADER_BYTES = 12;

/** Returns the bytes that a Matroska or WebM file promises. Null for other files. */
export async function readPromisedBytes(file: RangedFile): Promise<number | null> {
  const header = await readElement(file, 0);
  if (header?.id !== ID.ebml) return null;
  const segment = await readElement(file, header.end);
  if (segment?.id !== ID.segment) return null;
  return segment.end === Infinity ? file.size : Math.max(file.size, segment.end);
}

/** Milliseconds from 2001, the zero of Matroska, to 1970. */
const EPOCH_MS = Date.UTC(2001, 0, 1);
/** Elements of a segment before one that is looked for, and bytes of that. */
const [MAX_ELEMENTS, MAX_CONTENT_BYTES] = [100, 64 * 1024];

/** Elements in which the names of chapters are: `EditionEntry`, `ChapterAtom`, `ChapterDisplay`. */
const CHAPTER_PARENTS = new Set([0x45b9, 0xb6, 0x80]);

/**
 * Reads the title of a Matroska or WebM file, empty without one, the names of its chapters, and
 * when it was recorded, in ms since 1970; null without a time.
 */
export async function readMatroskaInfo(file: RangedFile) {
  const info = await readFromSegment(file, ID.info);
  const bytesOf = (wanted: number) => {
    const found = [...elementsOf(info)].find(({ id }) => id === wanted);
    return Buffer.from(info.subarray(found?.contentStart ?? 0, found?.end ?? 0));
  };
  const date = bytesOf(ID.dateUtc);
  const chapters = await readFromSegment(file, ID.chapters);
  return {
    title: bytesOf(ID.title).toString("utf8"),
    chapters: [...elementsOf(chapters, CHAPTER_PARENTS)].flatMap(({ id, contentStart, end }) =>
      id === ID.chapterName ? Buffer.from(chapters.subarray(contentStart, end)).toString() : [],
    ),
    recordedMs: date.length === 8 ? EPOCH_MS + Number(date.readBigInt64BE()) / 1e6 : null,
  };
}

/** Elements in which the encryption of a track is. */
const ENCRYPTION_PARENTS = new Set([ID.track, ID.contentEncodings, ID.contentEncoding]);

/** Whether a Matroska or WebM file has an encrypted track. False for other files. */
export async function isMatroskaEncrypted(file: RangedFile): Promise<boolean> {
  const tracks = elementsOf(await readFromSegment(file, ID.tracks), ENCRYPTION_PARENTS);
  return [...tracks].some(({ id }) => id === ID.contentEncryption);
}

/** Returns the content of an element before the first cluster; no bytes without one. */
async function readFromSegment(file: RangedFile, id: number): Promise<Uint8Array> {
  const header = await readElement(file, 0);
  const segment = header?.id === ID.ebml ? await readElement(file, header.end) : null;
  let element = segment?.id === ID.segment ? await readElement(file, segment.contentStart) : null;
  for (let count = 0; element && element.id !== ID.cluster && count < MAX_ELEMENTS; count++) {
    const { contentStart, end } = element;
    if (element.id === id) {
      return file.read(contentStart, Math.min(file.size, end, contentStart + MAX_CONTENT_BYTES));
    }
    element = await readElement(file, end);
  }
  return new Uint8Array();
}

async function readElement(file: RangedFile, start: number): Promise<Element | null> {
  if (start >= file.size) return null;
  const element = parseElement(await file.read(start, start + MAX_HEADER_BYTES), 0);
  return (
    element && {
      id: element.id,
      contentStart: start + element.contentStart,
      end: start + element.end,
    }
  );
}

/** Reads the header of an element, null without a valid one. */
export function parseElement(bytes: Uint8Array, start: number): Element | null {
  const idBytes = Math.clz32(bytes[start] ?? 0) - 23;
  if (idBytes > 4) return null;
  let id = 0;
  for (let i = 0; i < idBytes; i++) id = id * 256 + (bytes[start + i] ?? 0);
  const sizeAt = start + idBytes;
  const sizeBytes = Math.clz32(bytes[sizeAt] ?? 0) - 23;
  if (sizeBytes > 8) return null;
  let size = bytes[sizeAt]! & ((1 << (8 - sizeBytes)) - 1);
  for (let i = 1; i < sizeBytes; i++) size = size * 256 + (bytes[sizeAt + i] ?? 0);
  const contentStart = sizeAt + sizeBytes;
  const isUnknown = size >= 2 ** (7 * sizeBytes) - 1;
  return { id, contentStart, end: isUnknown ? Infinity : contentStart + size };
}

const TAGS = new Set([ID.tag, ID.simpleTag, ID.attachedFile]);
/** Elements in which others are counted. */
const COUNTED_PARENTS = new Set([ID.cuePoint, ID.cuePositions, ID.blockGroup, ...TAGS]);

/**
 * Counts what a reader of Matroska makes entries for. Throws `too_large` for more than a file may
 * have.
 */
export class MatroskaCounts {
  #segments = 0;
  #seeks = 0;
  #tracks = 0;
  #tags = 0;
  #cuePoints = 0;
  /** Times and tracks of cue points. */
  readonly #cues = new Set<number>();

  /** Counts an element of the file, or of its segment. */
  addHeader(id: number): void {
    if (id === ID.segment) requireWithinBudget("segments", ++this.#segments);
  }

  /** Counts the elements in the content of one. */
  add(parent: number, content: Buffer): void {
    let [elements, lacedFrames, cueTime] = [0, 0, 0];
    for (const { id, contentStart, end } of elementsOf(content)) {
      const bytes = content.subarray(contentStart, end);
      if (id === ID.seek) requireWithinBudget("entries in its seek heads", ++this.#seeks);
      if (id === ID.track) requireWithinBudget("tracks", ++this.#tracks);
      if (TAGS.has(id)) requireWithinBudget("tags", ++this.#tags);
      if (id === ID.cueTime) cueTime = toNumber(bytes);
      if (id === ID.cueTrack) {
        requireWithinBudget("cue points", ++this.#cuePoints);
        this.#cues.add(cueTime * MAX_TRACK + toNumber(bytes));
        requireWithinBudget("cue points at one time", this.#cuePoints - this.#cues.size);
      }
      if (parent !== ID.cluster) continue;
      requireWithinBudget("elements in a cluster", ++elements);
      if (id === ID.block || id === ID.simpleBlock) lacedFrames += countLaced(bytes);
      requireWithinBudget("laced frames in a cluster", lacedFrames);
    }
  }
}

/** More than the number of any track of most files. */
const MAX_TRACK = 1000;

function toNumber(bytes: Uint8Array): number {
  return bytes.reduce((number, byte) => number * 256 + byte, 0);
}

/**
 * Yields the elements of some bytes, and those in them, up to a damaged one in each. An element
 * ends with the one that it is in, whatever its size says: so each byte is read once.
 */
function* elementsOf(bytes: Uint8Array, parents = COUNTED_PARENTS): Generator<Element> {
  const ends = [bytes.length];
  for (let at = 0; ends.length > 0;) {
    const parentEnd = ends.at(-1)!;
    const element = at < parentEnd ? parseElement(bytes, at) : null;
    if (!element) {
      at = ends.pop()!;
      continue;
    }
    const end = Math.min(element.end, parentEnd);
    yield { ...element, end };
    if (parents.has(element.id)) {
      ends.push(end);
      at = element.contentStart;
    } else at = end;
  }
}

/** Returns the frames of a block that is laced, which begins with its track, a time and flags. */
function countLaced(block: Uint8Array): number {
  const flagsAt = Math.clz32(block[0] ?? 0) - 23 + 2;
  const isLaced = ((block[flagsAt] ?? 0) & 6) > 0;
  return isLaced ? (block[flagsAt + 1] ?? 0) + 1 : 0;
}
