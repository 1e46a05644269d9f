import { EngineError } from "./errors.ts";

/** Pixels of an image that is decoded line by line. */
export const MAX_PIXELS = 100_000_000;
/** Pixels of an image that its decoder keeps whole. */
export const MAX_WHOLE_PIXELS = 50_000_000;
/** Memory that a decoder may fill with an image, by the estimate of `requireBounded`. */
const MAX_DECODED_BYTES = 800_000_000;

/** What the header of an image says of its size in memory. */
export interface ImageExtent {
  width: number;
  height: number;
  /** Components, channels or bands of a pixel. */
  components: number;
  /** Bytes that the decoder keeps of each of them. */
  bytesPerComponent: number;
  /** Whether the decoder keeps the whole image. */
  isWhole: boolean;
}

/** Errors: `too_large` for an image that would take too much memory to decode. */
export function requireBounded({ isWhole, ...extent }: ImageExtent): void {
  const pixels = extent.width * extent.height;
  const maxPixels = isWhole ? MAX_WHOLE_PIXELS : MAX_PIXELS;
  if (pixels > maxPixels) {
    throw new EngineError("too_large", `The image has more than ${maxPixels / 1e6} megapixels.`);
  }
  if (pixels * extent.components * extent.bytesPerComponent <= MAX_DECODED_BYTES) return;
  throw new EngineError("too_large", "The image has too many pixels for its components and depth.");
}

/** Reads a Photoshop file: rows are unpacked beside the image. Null for a damaged header. */
export function photoshopExtent(bytes: Buffer): ImageExtent | null {
  if (bytes.length < 26) return null;
  const bytesPerComponent = (2 * Math.max(8, bytes.readUInt16BE(22))) / 8;
  const size = { width: bytes.readUInt32BE(18), height: bytes.readUInt32BE(14) };
  return { ...size, components: bytes.readUInt16BE(12), bytesPerComponent, isWhole: true };
}

/** Reads a bitmap, which becomes RGBA at most. Null for a damaged header. */
export function bitmapExtent(bytes: Buffer): ImageExtent | null {
  if (bytes.length < 26) return null;
  const isShort = bytes.readUInt32LE(14) === 12;
  const size = isShort
    ? { width: bytes.readUInt16LE(18), height: bytes.readUInt16LE(20) }
    : { width: Math.abs(bytes.readInt32LE(18)), height: Math.abs(bytes.readInt32LE(22)) };
  return { ...size, components: 4, bytesPerComponent: 1, isWhole: true };
}

/** Method of a colour specification that is an ICC profile. */
const RESTRICTED_PROFILE = 2;
const CODESTREAM_BOX = "jp2c";
/** Bytes of a component in FFmpeg's decoder: coefficients of 32 bits, and the samples. */
const WAVELET_BYTES = 6;

/** Reads the codestream of a JPEG 2000, which is what is decoded. Null for a damaged header. */
export function jpeg2000Extent(bytes: Buffer): ImageExtent | null {
  const start = bytes.readUInt32BE(0) === 12 ? findBox(bytes, CODESTREAM_BOX) : 0;
  if (start === null || bytes.length < start + 42 || bytes.readUInt32BE(start) !== 0xff4fff51) {
    return null;
  }
  const at = (offset: number) => bytes.readUInt32BE(start + offset);
  return {
    // FFmpeg keeps the whole grid of tiles, from which the offset is cut.
    width: at(8),
    height: at(12),
    components: bytes.readUInt16BE(start + 40),
    bytesPerComponent: WAVELET_BYTES,
    isWhole: true,
  };
}

/** Returns the ICC profile of a JPEG 2000 file; null without one. */
export function jpeg2000Profile(bytes: Buffer): Buffer | null {
  const header = bytes.length > 12 && bytes.readUInt32BE(0) === 12 ? findBox(bytes, "jp2h") : null;
  if (header === null) return null;
  const boxes = bytes.subarray(header, header - 8 + bytes.readUInt32BE(header - 8));
  const colour = findBox(boxes, "colr");
  const isProfile = colour !== null && boxes.readUInt8(colour) === RESTRICTED_PROFILE;
  return isProfile ? boxes.subarray(colour + 3, colour - 8 + boxes.readUInt32BE(colour - 8)) : null;
}

/** Returns where the content of the first box of a type begins; null without one. */
function findBox(bytes: Buffer, type: string): number | null {
  for (let at = 0; at + 16 <= bytes.length;) {
    const short = bytes.readUInt32BE(at);
    const content = at + (short === 1 ? 16 : 8);
    if (bytes.toString("latin1", at + 4, at + 8) === type) return content;
    const length = short === 1 ? Number(bytes.readBigUInt64BE(at + 8)) : short;
    if (length < content - at) return null;
    at += length;
  }
  return null;
}
