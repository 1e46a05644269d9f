import { SIGNATURE } from "../../parameters.ts";
import type { Size } from "./rect.ts";

export const SIGNATURE_SIZE = { width: SIGNATURE.side, height: SIGNATURE.side };

export function toSignatureSize(image: LumaImage): Uint8Array {
  return resizeLuma(image, SIGNATURE_SIZE);
}

/** Luma (Rec. 601) of an image: one byte a pixel, rows from the top. */
export interface LumaImage extends Size {
  luma: Uint8Array;
}

/**
 * Stretches an image to another size and returns its pixels. A pixel is the mean of the area that
 * it covers, or lies between the nearest two where the image grows.
 */
export function resizeLuma({ luma, width, height }: LumaImage, to: Size): Uint8Array {
  const narrowed = resizeRows(luma, width, height, to.width);
  const { starts, weights, taps } = weightsOf(height, to.height);
  const result = new Uint8Array(to.width * to.height);
  for (let y = 0, at = 0; y < to.height; y++) {
    for (let x = 0; x < to.width; x++, at++) {
      let sum = 0;
      let from = starts[y]! * to.width + x;
      for (let tap = 0; tap < taps; tap++, from += to.width) {
        sum += narrowed[from]! * weights[y * taps + tap]!;
      }
      result[at] = sum + 0.5;
    }
  }
  return result;
}

/** Resizes each of `count` rows of `length` pixels to another length. */
function resizeRows(
  pixels: Uint8Array,
  length: number,
  count: number,
  newLength: number,
): Float32Array {
  const { starts, weights, taps } = weightsOf(length, newLength);
  const result = new Float32Array(newLength * count);
  for (let row = 0, at = 0; row < count; row++) {
    const offset = row * length;
    for (let i = 0; i < newLength; i++, at++) {
      let sum = 0;
      const first = offset + starts[i]!;
      for (let tap = 0; tap < taps; tap++) sum += pixels[first + tap]! * weights[i * taps + tap]!;
      result[at] = sum;
    }
  }
  return result;
}

/** Returns the first value that each new value is made of, and the weights of `taps` from there. */
function weightsOf(length: number, newLength: number) {
  const scale = length / newLength;
  const reach = Math.max(1, scale) / 2; // of a new value, to each side of its centre
  const taps = Math.min(length, Math.ceil(2 * reach) + 1);
  const starts = new Int32Array(newLength);
  const weights = new Float32Array(newLength * taps);
  for (let i = 0; i < newLength; i++) {
    const centre = (i + 0.5) * scale;
    const [begin, end] = [Math.max(0, centre - reach), Math.min(length, centre + reach)];
    const start = Math.min(Math.floor(begin), length - taps);
    starts[i] = start;
    for (let tap = 0; tap < taps; tap++) {
      const value = start + tap;
      const covered = Math.min(end, value + 1) - Math.max(begin, value);
      weights[i * taps + tap] = Math.max(0, covered) / (end - begin);
    }
  }
  return { starts, weights, taps };
}

/** Size to which an image is blurred, of which the difference is its detail: pixels of eight. */
const BLURRED_SIZE = { width: SIGNATURE.side / 8, height: SIGNATURE.side / 8 };
/** Keeps images without detail from correlating by their noise, in levels² a pixel. */
const NOISE_VARIANCE = 1;

/**
 * High-pass filters `SIGNATURE.side`² luma: each pixel less the mean of its surroundings, as a
 * vector of at most unit length. Pages of different text that are light and dark in the same places
 * correlate little by it.
 */
export function highPassVector(luma: Uint8Array): Float64Array {
  const small = resizeLuma({ ...SIGNATURE_SIZE, luma }, BLURRED_SIZE);
  const blurred = resizeLuma({ ...BLURRED_SIZE, luma: small }, SIGNATURE_SIZE);
  const detail = Float64Array.from(luma, (value, i) => value - blurred[i]!);
  const energy = detail.reduce((sum, value) => sum + value ** 2, NOISE_VARIANCE * luma.length);
  return detail.map((value) => value / Math.sqrt(energy));
}

/**
 * Measures the sharpness of square luma: the energy of its gradient, in levels² (Pertuz, Puig and
 * Garcia, "Analysis of focus measure operators", 2013). Among frames of one scene the sharpest has
 * the highest value.
 */
export function measureSharpness(luma: Uint8Array): number {
  const side = Math.sqrt(luma.length);
  let energy = 0;
  for (let y = 0; y + 1 < side; y++) {
    for (let x = 0; x + 1 < side; x++) {
      const at = y * side + x;
      energy += (luma[at + 1]! - luma[at]!) ** 2 + (luma[at + side]! - luma[at]!) ** 2;
    }
  }
  return energy / luma.length;
}

/** Pixels each way of a block: less than a stroke of the smallest letters that a model reads. */
const BLOCK = 4;
/** Most by which the means of a block differ between two encodings of one image, of 255. */
const MAX_BLOCK_DIFFERENCE = 12;

/** Mean luma of the blocks of an image, for `areIdentical`. */
export interface Blocks extends Size {
  means: Uint8Array;
}

export function toBlocks(image: LumaImage): Blocks {
  const width = Math.ceil(image.width / BLOCK);
  const height = Math.ceil(image.height / BLOCK);
  return { width, height, means: resizeLuma(image, { width, height }) };
}

/**
 * Tests whether two images show the same, down to each letter of a text: every block has nearly the
 * same mean. Two encodings of one image do; where a word differs, some blocks don't.
 */
export function areIdentical(a: Blocks, b: Blocks): boolean {
  if (a.width !== b.width || a.height !== b.height) return false;
  return a.means.every((mean, i) => Math.abs(mean - b.means[i]!) <= MAX_BLOCK_DIFFERENCE);
}
