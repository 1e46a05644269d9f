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
  tracks: 0x1654ae6b,
  cluster: 0x1f43b675,
  track: 0xae,
  encodings: 0x6d80,
  encoding: 0x6240,
  compression: 0x5034,
  algorithm: 0x4254,
};
/** Elements on the way to a compression. */
const PARENTS = new Set([ID.track, ID.encodings, ID.encoding, ID.compression]);
/** `ContentCompAlgo` that the container library reads: frames without their first bytes. */
const HEADER_STRIPPING = 3;
const MAX_HEADER_BYTES = 12;
const MAX_TRACKS_BYTES = 1024 * 1024;
/** Elements before the tracks: a file with more is damaged. */
const MAX_ELEMENTS = 100;

/** What a Matroska file says of itself. */
export interface MatroskaFacts {
  /** Bytes that the file would have, at least those that it has. */
  promisedBytes: number;
  /** Whether frames of a track are compressed, as with zlib, so that it can't be read. */
  hasCompressedFrames: boolean;
}

/** Reads the facts of a Matroska or WebM file. Null for other files. */
export async function readMatroska(file: RangedFile): Promise<MatroskaFacts | null> {
  const header = await readElement(file, 0);
  if (header?.id !== ID.ebml) return null;
  const segment = await readElement(file, header.end);
  if (segment?.id !== ID.segment) return null;
  const promisedBytes = segment.end === Infinity ? file.size : Math.max(file.size, segment.end);
  let at = segment.contentStart;
  for (let count = 0; count < MAX_ELEMENTS; count++) {
    const element = await readElement(file, at);
    if (!element || element.id === ID.cluster || element.end === Infinity) break;
    if (element.id === ID.tracks) {
      const end = Math.min(element.end, element.contentStart + MAX_TRACKS_BYTES);
      const bytes = await file.read(element.contentStart, end);
      return { promisedBytes, hasCompressedFrames: hasCompression(bytes) };
    }
    at = element.end;
  }
  return { promisedBytes, hasCompressedFrames: false };
}

/** Whether the content of a `Tracks` element, or of one in it, has a compression of frames. */
function hasCompression(bytes: Uint8Array, parent = ID.tracks): boolean {
  let hasAlgorithm = false;
  for (let at = 0; at < bytes.length;) {
    const element = parseElement(bytes, at);
    if (!element) break;
    const content = bytes.subarray(element.contentStart, element.end);
    if (element.id === ID.algorithm) {
      hasAlgorithm = true;
      if (content.at(-1) !== HEADER_STRIPPING) return true;
    }
    if (PARENTS.has(element.id) && hasCompression(content, element.id)) return true;
    at = element.end;
  }
  return parent === ID.compression && !hasAlgorithm; // zlib is the default
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
function parseElement(bytes: Uint8Array, start: number): Element | null {
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
