import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";

/** In pixels. */
export interface PictureSize {
  width: number;
  height: number;
}

/** Throws `too_large` where decoding a picture would fill the memory, however few its bytes are. */
export function requireDecodable({ width, height }: PictureSize): void {
  if (width * height <= LIMITS.imagePixels) return;
  const most = LIMITS.imagePixels / 1_000_000;
  throw new AppError(
    "too_large",
    `The image has ${width} × ${height} pixels, more than ${most} million; make it smaller.`,
  );
}

/**
 * What the header of a picture says, by its first bytes; undefined where that comes later, as in a JPEG with a
 * large preview in its EXIF, or where it is damaged. PNG (W3C, 11.2.1), GIF89a (18), WebP (RFC 9649), JPEG
 * (T.81, B.2.2), AVIF (ISO/IEC 23008-12, 6.5.3: the largest of its pictures).
 */
export function sizeInHeader(head: Uint8Array): PictureSize | undefined {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.length);
  try {
    return READERS.find(({ isIt }) => isIt(bytes))?.read(bytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined; // the header isn't over
    throw error;
  }
}

const READERS: { isIt: (bytes: Buffer) => boolean; read: Read }[] = [
  { isIt: (bytes) => text(bytes, 12) === "IHDR", read: at(16, 20, "UInt32BE") },
  { isIt: (bytes) => text(bytes, 0) === "GIF8", read: at(6, 8, "UInt16LE") },
  { isIt: (bytes) => text(bytes, 12) === "VP8X", read: extendedWebp },
  { isIt: (bytes) => text(bytes, 12) === "VP8L", read: losslessWebp },
  { isIt: (bytes) => text(bytes, 12) === "VP8 ", read: lossyWebp },
  { isIt: (bytes) => bytes.subarray(0, 2).equals(JPEG), read: jpeg },
  { isIt: (bytes) => text(bytes, 4) === "ftyp", read: avif },
];

type Read = (bytes: Buffer) => PictureSize | undefined;

const JPEG = Buffer.from([0xff, 0xd8]);

function text(bytes: Buffer, offset: number): string {
  return bytes.toString("latin1", offset, offset + 4);
}

function at(width: number, height: number, type: "UInt32BE" | "UInt16BE" | "UInt16LE") {
  return (bytes: Buffer) => ({
    width: bytes[`read${type}`](width),
    height: bytes[`read${type}`](height),
  });
}

function extendedWebp(bytes: Buffer): PictureSize {
  return { width: 1 + bytes.readUIntLE(24, 3), height: 1 + bytes.readUIntLE(27, 3) };
}

function losslessWebp(bytes: Buffer): PictureSize {
  const bits = bytes.readUInt32LE(21);
  return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
}

function lossyWebp(bytes: Buffer): PictureSize {
  return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
}

/** From segment to segment until a frame's header, SOF0 to SOF15 but for three that are none. */
function jpeg(bytes: Buffer): PictureSize | undefined {
  for (let offset = 2; bytes.readUInt8(offset) === 0xff;) {
    const marker = bytes.readUInt8(offset + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return at(offset + 7, offset + 5, "UInt16BE")(bytes);
    const isFill = marker === 0xff;
    offset += isFill ? 1 : 2 + bytes.readUInt16BE(offset + 2);
  }
  return undefined;
}

function avif(bytes: Buffer): PictureSize | undefined {
  let largest: PictureSize | undefined;
  for (let i = bytes.indexOf("ispe"); i !== -1; i = bytes.indexOf("ispe", i + 4)) {
    const size = at(i + 8, i + 12, "UInt32BE")(bytes);
    if (!largest || size.width * size.height > largest.width * largest.height) largest = size;
  }
  return largest;
}
