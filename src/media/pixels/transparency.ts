import { CHANNELS, type RgbaImage } from "./jpeg.ts";

const ALPHA = 3;
const OPAQUE = 255;
/** Difference from the background that the eye sees, in levels. */
const MIN_CONTRAST = 32;
/** Bits of flags: PNG's colour types with alpha, WebP's alpha, GIF's transparency. */
const FLAGS = { png: 4, vp8x: 0x10, vp8l: 0x10, gif: 1 };

/**
 * Whether the first bytes of a PNG, WebP or GIF say that it may be transparent. Sources: PNG
 * specification, 11.2.1 and 11.3.1.1; RFC 9649, 2.7 and 3.4; GIF89a, 23.
 */
export function mayBeTransparent(head: Uint8Array): boolean {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.length);
  const at = (offset: number, text: string) =>
    bytes.toString("latin1", offset, offset + text.length) === text;
  if (at(1, "PNG")) return (bytes[25]! & FLAGS.png) !== 0 || bytes.includes("tRNS");
  if (at(8, "WEBPVP8X")) return (bytes[20]! & FLAGS.vp8x) !== 0;
  if (at(8, "WEBPVP8L")) return (bytes[24]! & FLAGS.vp8l) !== 0;
  const control = at(0, "GIF8") ? bytes.indexOf(Buffer.from([0x21, 0xf9, 0x04])) : -1;
  return control >= 0 && (bytes[control + 3]! & FLAGS.gif) !== 0;
}

/** Whether a pixel of an image lets its background through. */
export function isTransparent({ data }: RgbaImage): boolean {
  for (let at = ALPHA; at < data.length; at += CHANNELS) if (data[at]! < OPAQUE) return true;
  return false;
}

/** Difference of levels that noise of a codec makes. */
const MAX_NOISE = 8;

/** Whether RGBA pixels are all transparent, or all of one colour. */
export function isBlank(data: Uint8ClampedArray): boolean {
  const [lowest, highest] = [Array(CHANNELS).fill(OPAQUE), Array(CHANNELS).fill(0)];
  for (let at = 0; at < data.length; at++) {
    const channel = at % CHANNELS;
    if (data[at]! < lowest[channel]) lowest[channel] = data[at];
    if (data[at]! > highest[channel]) highest[channel] = data[at];
  }
  if (highest[ALPHA] <= MAX_NOISE) return true;
  return highest.every((level, channel) => level - lowest[channel] <= MAX_NOISE);
}

/** Lays an image on a grey background, 0 for black and 255 for white. */
export function layOn({ data, ...size }: RgbaImage, background: number): RgbaImage {
  const flat = new Uint8ClampedArray(data.length);
  for (let at = 0; at < data.length; at += CHANNELS) {
    const alpha = data[at + ALPHA]! / OPAQUE;
    for (let i = at; i < at + ALPHA; i++) flat[i] = data[i]! * alpha + background * (1 - alpha);
    flat[at + ALPHA] = OPAQUE;
  }
  return { ...size, data: flat };
}

/** Counts the pixels of a flat image that can be told from its background. */
export function countVisible({ data }: RgbaImage, background: number): number {
  let count = 0;
  for (let at = 0; at < data.length; at += CHANNELS) {
    const colour = data.subarray(at, at + ALPHA);
    if (colour.some((level) => Math.abs(level - background) >= MIN_CONTRAST)) count++;
  }
  return count;
}
