import type { RangedFile } from "../container/mp4-boxes.ts";
import { boxesOf, findContent, fourCc, isTiff } from "../pixels/image-size.ts";
import { readBlock, readFirstDirectory, readNumbers, slice } from "./tiff.ts";

/** Blocks of metadata in a file, each as its own standard defines it. */
export interface MetadataBlocks {
  /** A TIFF, from its first byte (CIPA DC-008). */
  exif?: RangedFile | null;
  /** RDF in XML (ISO 16684-1), perhaps behind bytes of what it is in. */
  xmp?: RangedFile | null;
  /** Data sets of the Information Interchange Model (IPTC-NAA IIM 4.2). */
  iptc?: RangedFile | null;
}

/** More than the description of the items of an image takes, but for hostile ones. */
const MAX_META_BYTES = 1024 * 1024;
/** Chunks of a file that are looked at: a PNG of 20 MiB may have 2,560 of pixels. */
const MAX_CHUNKS = 4096;
/** Bytes of a header, with the longest name of an image resource. */
const HEADER_BYTES = 300;

/** A part of a file that has a header: segment, chunk, box or resource. */
interface Chunk {
  type: string;
  /** Where its content is, and the chunk that follows: offsets from the header. */
  start: number;
  end: number;
  next: number;
}
/** Reads the header of a chunk; null where the last one ends. */
type ReadHeader = (head: Buffer) => Chunk | null;

/** Blocks by the type of a chunk that has one. */
const BLOCKS: Readonly<Record<string, keyof MetadataBlocks | "resources">> = {
  "Exif\0\0": "exif",
  "http://ns.adobe.com/xap/1.0/\0": "xmp",
  "Photoshop 3.0\0": "resources",
  eXIf: "exif",
  EXIF: "exif",
  Exif: "exif",
  "XMP ": "xmp",
  "xml ": "xmp",
  "8BIM 1028": "iptc",
  "8BIM 1058": "exif",
  "8BIM 1060": "xmp",
};
/** Types of a JPEG's segments: what they begin with. */
const SEGMENTS = Object.keys(BLOCKS).filter((type) => type.endsWith("\0"));

/** Formats of chunks: where the first one is, and how a header is read. */
const FORMATS: Readonly<Record<string, [start: number, ReadHeader]>> = {
  "image/jpeg": [2, readSegment],
  "image/png": [8, readPngChunk],
  "image/apng": [8, readPngChunk],
  "image/webp": [12, readRiffChunk],
  "image/jxl": [0, readBox],
  "image/vnd.adobe.photoshop": [26, readSection],
};
const HEIF = /^image\/(?:heic|heif|avif)/;
const [XMP_TAG, IPTC_TAG] = [700, 33723];

/** Finds the blocks of an image. A file of another format is taken for a TIFF. */
export async function findBlocks(file: RangedFile, contentType: string): Promise<MetadataBlocks> {
  const format = FORMATS[contentType];
  const whole = HEIF.test(contentType) ? findItems(file) : { exif: file };
  const blocks: MetadataBlocks = await (format ? collectBlocks(chunksOf(file, ...format)) : whole);
  if (!blocks.exif) return blocks;
  blocks.exif = await skipPrefix(blocks.exif);
  const directory = await readFirstDirectory(blocks.exif);
  blocks.xmp ??= readBlock(directory, XMP_TAG);
  blocks.iptc ??= readBlock(directory, IPTC_TAG);
  return blocks;
}

/** Takes the first block of each kind. */
async function collectBlocks(chunks: ReturnType<typeof chunksOf>): Promise<MetadataBlocks> {
  const found: Partial<Record<keyof MetadataBlocks | "resources", RangedFile>> = {};
  for await (const { type, content } of chunks) {
    if (Object.hasOwn(BLOCKS, type)) found[BLOCKS[type]!] ??= content;
  }
  const { resources, ...blocks } = found;
  return resources
    ? { ...(await collectBlocks(chunksOf(resources, 0, readResource))), ...blocks }
    : blocks;
}

/** Yields the chunks that follow each other from `from`, up to a damaged one. */
export async function* chunksOf(file: RangedFile, from: number, readHeader: ReadHeader) {
  let at = from;
  for (let count = 0; at + 8 <= file.size && count < MAX_CHUNKS; count++) {
    const head = Buffer.alloc(HEADER_BYTES);
    head.set(await file.read(at, at + HEADER_BYTES));
    const chunk = readHeader(head);
    if (!chunk) return;
    const { type, start, end, next } = chunk;
    yield { type, content: slice(file, at + start, end - start) };
    at += next;
  }
}

/** Reads a segment of a JPEG (T.81, B.1.1.4), or skips a byte between two. Ends at the pixels. */
function readSegment(head: Buffer): Chunk | null {
  const marker = head[0] === 0xff ? head[1]! : 0;
  if (marker === 0xda) return null;
  const hasLength = marker >= 0xc0 && marker < 0xff && (marker < 0xd0 || marker > 0xd9);
  if (!hasLength) return { type: "", start: 0, end: 0, next: 1 };
  const content = head.toString("latin1", 4);
  const type = SEGMENTS.find((prefix) => content.startsWith(prefix)) ?? "";
  const end = 2 + head.readUInt16BE(2);
  return { type, start: 4 + type.length, end, next: end };
}

/** Reads a chunk of a PNG (W3C, 5.3). XMP is in a text with a keyword. */
function readPngChunk(head: Buffer): Chunk {
  const end = 8 + head.readUInt32BE(0);
  const isXmp = head.toString("latin1", 4, 26) === "iTXtXML:com.adobe.xmp\0";
  return { type: isXmp ? "XMP " : fourCc(head, 4), start: 8, end, next: end + 4 };
}

/** Reads a chunk of a RIFF file. The chunks of a list are read like those around it. */
export function readRiffChunk(head: Buffer): Chunk {
  const type = fourCc(head, 0);
  const end = 8 + head.readUInt32LE(4);
  const isList = type === "LIST" && fourCc(head, 8) !== "movi";
  return { type, start: 8, end, next: isList ? 12 : end + (end % 2) };
}

/** Reads a box (ISO/IEC 14496-12, 4.2). */
function readBox(head: Buffer): Chunk | null {
  const isLong = head.readUInt32BE(0) === 1;
  const end = isLong ? Number(head.readBigUInt64BE(8)) : head.readUInt32BE(0) || Infinity;
  const start = isLong ? 16 : 8;
  return end < start ? null : { type: fourCc(head, 4), start, end, next: end };
}

/** Reads a section of a Photoshop file: colours, then image resources, as in a JPEG. */
function readSection(head: Buffer): Chunk {
  const end = 4 + head.readUInt32BE(0);
  const type = fourCc(head, 4) === "8BIM" ? "Photoshop 3.0\0" : "";
  return { type, start: 4, end, next: end };
}

/** Reads an image resource of Photoshop, which has a number and a name. */
function readResource(head: Buffer): Chunk | null {
  if (fourCc(head, 0) !== "8BIM") return null;
  const start = 10 + 2 * Math.ceil((head.readUInt8(6) + 1) / 2);
  const end = start + head.readUInt32BE(start - 4);
  return { type: `8BIM ${head.readUInt16BE(4)}`, start, end, next: end + (end % 2) };
}

/** Skips what comes before the TIFF of an EXIF block: the number of bytes to skip, or a name. */
async function skipPrefix(block: RangedFile): Promise<RangedFile> {
  const head = Buffer.from(await block.read(0, 14));
  if (head.length < 14 || isTiff(head)) return block;
  const name = head.indexOf("Exif\0\0");
  const isNamed = name === 0 || name === 4;
  const prefix = isNamed ? name + 6 : 4 + head.readUInt32BE(0);
  return slice(block, prefix, block.size - prefix);
}

/** Tag of the orientation, which says how the stored pixels are turned. */
export const ORIENTATION = 0x0112;

/** Returns the EXIF orientation of an image, from 1 to 8; null if it says none. */
export async function readOrientation(
  file: RangedFile,
  contentType: string,
): Promise<number | null> {
  const { exif } = await findBlocks(file, contentType);
  const directory = exif ? await readFirstDirectory(exif) : null;
  return (await readNumbers(directory, ORIENTATION))[0] ?? null;
}

/** Finds the items of a HEIF file that are EXIF or XMP (ISO/IEC 23008-12, A.2 and A.3). */
async function findItems(file: RangedFile): Promise<MetadataBlocks> {
  const head = Buffer.from(await file.read(0, MAX_META_BYTES));
  const meta = findContent(head, "meta");
  const itemInfo = meta && findContent(meta, "iinf");
  const locations = meta && findContent(meta, "iloc");
  const found: MetadataBlocks = {};
  if (!itemInfo || !locations) return found;
  try {
    for (const [name, id] of listItems(itemInfo)) {
      if (found[name] !== undefined) continue;
      const extent = findExtent(locations, id);
      found[name] = extent && slice(file, extent.offset, extent.length);
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error; // damaged
  }
  return found;
}

/** Yields the ids of items in a box `iinf` (ISO/IEC 14496-12, 8.11.6). */
function* listItems(itemInfo: Buffer): Generator<["exif" | "xmp", number]> {
  const countBytes = itemInfo.readUInt8(0) === 0 ? 2 : 4;
  for (const { type, content } of boxesOf(itemInfo.subarray(4 + countBytes))) {
    const version = type === "infe" ? content.readUInt8(0) : 0;
    if (version < 2) continue;
    const idBytes = version === 2 ? 2 : 4;
    const id = content.readUIntBE(4, idBytes);
    const itemType = fourCc(content, 4 + idBytes + 2);
    if (itemType === "Exif") yield ["exif", id];
    if (itemType === "mime" && content.includes("application/rdf+xml")) yield ["xmp", id];
  }
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
    const extents = read(2);
    if (itemId !== id || extents === 0) {
      at += extents * (indexBytes + offsetBytes + lengthBytes); // which may be no bytes
      continue;
    }
    read(indexBytes);
    const [offset, length] = [base + read(offsetBytes), read(lengthBytes)];
    const isInFile = method === 0;
    return isInFile ? { offset, length } : null;
  }
  return null;
}
