import { LIMITS } from "../../config.ts";
import { AppError } from "../../errors.ts";
import type { Size } from "./rect.ts";

/** Throws `too_large` for an image that would exhaust the memory when decoded. */
export function requireDecodable({ width, height }: Size, maxPixels: number = LIMITS.imagePixels) {
  if (width * height <= maxPixels) return;
  const maxMillions = maxPixels / 1_000_000;
  throw new AppError(
    "too_large",
    `The image has ${width} × ${height} pixels, ` +
      `more than ${maxMillions} million; make it smaller.`,
  );
}

/**
 * Reads the size of an image from its first bytes: PNG (W3C, 11.2.1), GIF89a (18), WebP (RFC 9649),
 * JPEG (T.81, B.2.2), HEIF and AVIF (ISO/IEC 23008-12, 6.5.3). The decoder reads that of the others
 * before it decodes them. Returns undefined for them, for a damaged header, and for one that comes
 * later, as in a JPEG with a large preview in its EXIF.
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
  {
    matches: (bytes) => bytes.subarray(0, 2).equals(JPEG),
    read: (bytes) => findFrame(bytes)?.size,
  },
  { matches: (bytes) => fourCc(bytes, 0) === "GIF8", read: sizeAt(6, 8, "UInt16LE") },
  { matches: (bytes) => fourCc(bytes, 0) === "\x89PNG", read: sizeAt(16, 20, "UInt32BE") },
  { matches: (bytes) => isWebp(bytes, "VP8X"), read: extendedWebp },
  { matches: (bytes) => isWebp(bytes, "VP8L"), read: losslessWebp },
  { matches: (bytes) => isWebp(bytes, "VP8 "), read: lossyWebp },
  { matches: (bytes) => fourCc(bytes, 4) === "ftyp", read: heif },
];

const isWebp = (bytes: Buffer, chunk: string) =>
  fourCc(bytes, 0) === "RIFF" && fourCc(bytes, 12) === chunk;

type ReadSize = (bytes: Buffer) => Size | undefined;

const JPEG = Buffer.from([0xff, 0xd8]);

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

/** What a box of a size begins with: its length, its type, its version and flags. */
const SIZE_BOX = Buffer.from("\0\0\0\x14ispe\0\0\0\0", "latin1");

/** Returns the largest image of the file. Its tiles, thumbnails and depth maps are smaller. */
function heif(bytes: Buffer): Size | undefined {
  let largest: Size | undefined;
  for (let at = -1; (at = bytes.indexOf(SIZE_BOX, at + 1)) >= 0;) {
    const size = sizeAt(at + SIZE_BOX.length, at + SIZE_BOX.length + 4, "UInt32BE")(bytes);
    if (!largest || size.width * size.height > largest.width * largest.height) largest = size;
  }
  return largest && hasPixels(largest);
}

/** Whether bytes begin as a TIFF does, or a camera raw that is made like one. */
export function isTiff(bytes: Buffer): boolean {
  return ["II*\0", "MM\0*", "II+\0", "MM\0+"].includes(fourCc(bytes, 0));
}

function hasPixels(size: Size): Size | undefined {
  return size.width > 0 && size.height > 0 ? size : undefined;
}

export function fourCc(bytes: Buffer, offset: number): string {
  return bytes.toString("latin1", offset, offset + 4);
}
