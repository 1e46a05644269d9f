import type { Pixels } from "../picture.ts";

/** Bands from top to bottom: sky, what stands, ground. */
export const BANDS = 4;
const LEVELS = 4;
/** Each of red, green and blue in four levels. */
export const COLOURS = LEVELS ** 3;

/**
 * The square root of each colour's share of each band: `BANDS` × `COLOURS` numbers from 0 to 1. Roots
 * of shares are compared by their distance (Hellinger), so that rare colours count too.
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
