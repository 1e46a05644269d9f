import { LIMITS } from "../../config.ts";
import { AppError } from "../../errors.ts";
import { boxesOf, findContent, fourCc } from "./boxes.ts";
import { readJxlSize } from "./jxl-size.ts";
import type { Size } from "./rect.ts";

/** Throws `too_large` for an image that would exhaust the memory when decoded. */
export function requireDecodable(
  { width, height }: Size,
  maxPixels: number = LIMITS.imagePixels,
): void {
  if (width * height <= maxPixels) return;
  const maxMillions = maxPixels / 1_000_000;
  throw new AppError(
    "too_large",
    `The image has ${width} × ${height} pixels, ` +
      `more than ${maxMillions} million; make it smaller.`,
  );
}

/**
 * Reads the size of an image from its first bytes. Returns undefined for a damaged header, and for
 * one that comes later, as in a JPEG with a large preview in its EXIF, or at the end of a TIFF.
 * Reads PNG (W3C, 11.2.1), GIF89a (18), WebP (RFC 9649), JPEG (T.81, B.2.2), HEIF and AVIF
 * (ISO/IEC 23008-12, 6.5.3), TIFF 6.0 (2), BMP, JPEG 2000 (T.800, A.5.1, I.5.3.1), JPEG XL
 * (ISO/IEC 18181-1, D.2) and Photoshop.
 */
export function readImageSize(head: Uint8Array): Size | undefined {
  const bytes = toBuffer(head);
  return undefinedIfCut(() => READERS.find(({ matches }) => matches(bytes))?.read(bytes));
}

function toBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

function undefinedIfCut<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return undefined; // the header is longer than these bytes
    throw error;
  }
}

const READERS: { matches: (bytes: Buffer) => boolean; read: ReadSize }[] = [
  { matches: (bytes) => bytes.subarray(0, 2).equals(JPEG), read: jpeg },
  { matches: (bytes) => fourCc(bytes, 0) === "GIF8", read: sizeAt(6, 8, "UInt16LE") },
  { matches: (bytes) => fourCc(bytes, 0) === "\x89PNG", read: sizeAt(16, 20, "UInt32BE") },
  { matches: (bytes) => isWebp(bytes, "VP8X"), read: extendedWebp },
  { matches: (bytes) => isWebp(bytes, "VP8L"), read: losslessWebp },
  { matches: (bytes) => isWebp(bytes, "VP8 "), read: lossyWebp },
  { matches: (bytes) => fourCc(bytes, 4) === "ftyp", read: heif },
  { matches: isTiff, read: tiff },
  { matches: (bytes) => bytes.toString("latin1", 0, 2) === "BM", read: bmp },
  { matches: (bytes) => fourCc(bytes, 0) === "8BPS", read: sizeAt(18, 14, "UInt32BE") },
  { matches: (bytes) => fourCc(bytes, 4) === "jP  ", read: jpeg2000 },
  { matches: (bytes) => bytes.subarray(0, 4).equals(CODESTREAM), read: sizOf },
  { matches: (bytes) => bytes.subarray(0, 2).equals(JXL), read: readJxlSize },
  { matches: (bytes) => fourCc(bytes, 4) === "JXL ", read: boxedJxl },
];

const isWebp = (bytes: Buffer, chunk: string) =>
  fourCc(bytes, 0) === "RIFF" && fourCc(bytes, 12) === chunk;

type ReadSize = (bytes: Buffer) => Size | undefined;

const JPEG = Buffer.from([0xff, 0xd8]);
const JXL = Buffer.from([0xff, 0x0a]);
const CODESTREAM = Buffer.from([0xff, 0x4f, 0xff, 0x51]);

function sizeAt(
  widthOffset: number,
  heightOffset: number,
  type: "UInt32BE" | "UInt16BE" | "UInt16LE",
) {
  return (bytes: Buffer) => ({
    width: bytes[`read${type}`](widthOffset),
    height: bytes[`read${type}`](heightOffset),
  });
}

function extendedWebp(bytes: Buffer): Size {
  return { width: 1 + bytes.readUIntLE(24, 3), height: 1 + bytes.readUIntLE(27, 3) };
}

function losslessWebp(bytes: Buffer): Size {
  const bits = bytes.readUInt32LE(21);
  return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
}

function lossyWebp(bytes: Buffer): Size {
  return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
}

/**
 * Walks the segments up to a frame header: SOF0 to SOF15, without three markers that aren't.
 * Returns undefined for what decoders skip or refuse, so that none finds another header.
 */
function findFrame(bytes: Buffer): { marker: number; size: Size | undefined } | undefined {
  for (let offset = 2; bytes.readUInt8(offset) === 0xff;) {
    const marker = bytes.readUInt8(offset + 1);
    if (marker < 0xc0 || (marker >= 0xd0 && marker <= 0xd9)) return undefined; // has no length
    const isFrame = marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) {
      return { marker, size: hasPixels(sizeAt(offset + 7, offset + 5, "UInt16BE")(bytes)) };
    }
    const isFill = marker === 0xff;
    offset += isFill ? 1 : 2 + bytes.readUInt16BE(offset + 2);
  }
  return undefined;
}

function jpeg(bytes: Buffer): Size | undefined {
  return findFrame(bytes)?.size;
}

/** Markers of frames that every decoder reads: baseline, extended and progressive. */
const COMMON_FRAMES = new Set([0xc0, 0xc1, 0xc2]);

/**
 * Reads the size of a JPEG from its first bytes. Returns undefined for other files, and for a
 * lossless JPEG, in which cameras store raw pixels.
 */
export function readJpegSize(head: Uint8Array): Size | undefined {
  const bytes = toBuffer(head);
  const isJpeg = bytes.subarray(0, 2).equals(JPEG);
  const frame = isJpeg ? undefinedIfCut(() => findFrame(bytes)) : undefined;
  return frame && COMMON_FRAMES.has(frame.marker) ? frame.size : undefined;
}

/** Returns the largest image of the file. Its tiles, thumbnails and depth maps are smaller. */
function heif(bytes: Buffer): Size | undefined {
  let largest: Size | undefined;
  for (const { type, content } of boxesOf(findContent(bytes, "meta", "iprp", "ipco") ?? EMPTY)) {
    if (type !== "ispe") continue;
    const size = sizeAt(4, 8, "UInt32BE")(content);
    if (!largest || size.width * size.height > largest.width * largest.height) largest = size;
  }
  return largest && hasPixels(largest);
}

const EMPTY = Buffer.alloc(0);

/** Whether bytes begin as a TIFF does, or a camera raw that is made like one. */
export function isTiff(bytes: Buffer): boolean {
  return ["II*\0", "MM\0*", "II+\0", "MM\0+"].includes(fourCc(bytes, 0));
}

const [WIDTH_TAG, LENGTH_TAG] = [256, 257];

/** Reads the first directory. Returns undefined for a BigTIFF, whose decoder reads it. */
function tiff(bytes: Buffer): Size | undefined {
  const suffix = fourCc(bytes, 0).startsWith("II") ? "LE" : "BE";
  if (bytes[`readUInt16${suffix}`](2) !== 42) return undefined;
  const start = bytes[`readUInt32${suffix}`](4);
  const size = { width: 0, height: 0 };
  for (let i = 0, count = bytes[`readUInt16${suffix}`](start); i < count; i++) {
    const at = start + 2 + 12 * i;
    const tag = bytes[`readUInt16${suffix}`](at);
    if (tag > LENGTH_TAG) break; // tags are sorted
    const isShort = bytes[`readUInt16${suffix}`](at + 2) === 3;
    const value = bytes[`readUInt${isShort ? 16 : 32}${suffix}`](at + 8);
    if (tag === WIDTH_TAG) size.width = value;
    if (tag === LENGTH_TAG) size.height = value;
  }
  return hasPixels(size);
}

/** A negative height means rows from the top. */
function bmp(bytes: Buffer): Size | undefined {
  const hasShortHeader = bytes.readUInt32LE(14) === 12;
  if (hasShortHeader) return hasPixels(sizeAt(18, 20, "UInt16LE")(bytes));
  return hasPixels({ width: bytes.readInt32LE(18), height: Math.abs(bytes.readInt32LE(22)) });
}

function jpeg2000(bytes: Buffer): Size | undefined {
  const header = findContent(bytes, "jp2h", "ihdr");
  return header && hasPixels(sizeAt(4, 0, "UInt32BE")(header));
}

/** The grid from which the offset of the image is cut. */
function sizOf(bytes: Buffer): Size | undefined {
  const [outer, offset] = [sizeAt(8, 12, "UInt32BE")(bytes), sizeAt(16, 20, "UInt32BE")(bytes)];
  return hasPixels({ width: outer.width - offset.width, height: outer.height - offset.height });
}

/** The codestream is whole, or in parts that begin with their number. */
function boxedJxl(bytes: Buffer): Size | undefined {
  const codestream = findContent(bytes, "jxlc") ?? findContent(bytes, "jxlp")?.subarray(4);
  return codestream && readJxlSize(codestream);
}

function hasPixels(size: Size): Size | undefined {
  return size.width > 0 && size.height > 0 ? size : undefined;
}
