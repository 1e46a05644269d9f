import { LIMITS } from "../../config.ts";
import { AppError } from "../../errors.ts";
import type { Size } from "./rect.ts";

/** Throws `too_large` for an image that would exhaust the memory when decoded. */
export function requireDecodable({ width, height }: Size): void {
  if (width * height <= LIMITS.imagePixels) return;
  const maxMillions = LIMITS.imagePixels / 1_000_000;
  throw new AppError(
    "too_large",
    `The image has ${width} × ${height} pixels, ` +
      `more than ${maxMillions} million; make it smaller.`,
  );
}

/**
 * Reads the size of an image from its first bytes. Returns undefined for a damaged header, and for
 * one that comes later, as in a JPEG with a large preview in its EXIF. Reads PNG (W3C, 11.2.1),
 * GIF89a (18), WebP (RFC 9649) and JPEG (T.81, B.2.2).
 */
export function readImageSize(head: Uint8Array): Size | undefined {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.length);
  try {
    return READERS.find(({ matches }) => matches(bytes))?.read(bytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined; // the header is longer than these bytes
    throw error;
  }
}

const READERS: { matches: (bytes: Buffer) => boolean; read: ReadSize }[] = [
  { matches: (bytes) => fourCc(bytes, 12) === "IHDR", read: sizeAt(16, 20, "UInt32BE") },
  { matches: (bytes) => fourCc(bytes, 0) === "GIF8", read: sizeAt(6, 8, "UInt16LE") },
  { matches: (bytes) => fourCc(bytes, 12) === "VP8X", read: extendedWebp },
  { matches: (bytes) => fourCc(bytes, 12) === "VP8L", read: losslessWebp },
  { matches: (bytes) => fourCc(bytes, 12) === "VP8 ", read: lossyWebp },
  { matches: (bytes) => bytes.subarray(0, 2).equals(JPEG), read: jpeg },
];

type ReadSize = (bytes: Buffer) => Size | undefined;

const JPEG = Buffer.from([0xff, 0xd8]);

function fourCc(bytes: Buffer, offset: number): string {
  return bytes.toString("latin1", offset, offset + 4);
}

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

/** Walks the segments up to a frame header: SOF0 to SOF15, without three markers that aren't. */
function jpeg(bytes: Buffer): Size | undefined {
  for (let offset = 2; bytes.readUInt8(offset) === 0xff;) {
    const marker = bytes.readUInt8(offset + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return sizeAt(offset + 7, offset + 5, "UInt16BE")(bytes);
    const isFill = marker === 0xff;
    offset += isFill ? 1 : 2 + bytes.readUInt16BE(offset + 2);
  }
  return undefined;
}
