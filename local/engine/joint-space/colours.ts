import type { Pixels } from "../image.ts";

/** Horizontal bands: roughly sky, upright objects and ground. */
export const BANDS = 4;
const LEVELS = 4;
/** Colours of an RGB histogram with four levels a channel. */
export const COLOURS = LEVELS ** 3;

/**
 * Computes a colour histogram of each band: square roots of shares, `BANDS` × `COLOURS` numbers
 * from 0 to 1. The Euclidean distance of roots is the Hellinger distance, in which rare colours
 * count.
 */
export function measureColours({ data, width, height }: Pixels): Float32Array {
  const counts = new Float32Array(BANDS * COLOURS);
  const pixels = new Float32Array(BANDS);
  for (let pixel = 0; pixel < width * height; pixel++) {
    const band = Math.floor((Math.floor(pixel / width) * BANDS) / height);
    const at = pixel * 3;
    const colour = (toLevel(data[at]) * LEVELS + toLevel(data[at + 1])) * LEVELS;
    counts[band * COLOURS + colour + toLevel(data[at + 2])]!++;
    pixels[band]!++;
  }
  return counts.map((count, at) => Math.sqrt(count / (pixels[Math.floor(at / COLOURS)] || 1)));
}

function toLevel(value = 0): number {
  return Math.floor((value * LEVELS) / 256);
}
