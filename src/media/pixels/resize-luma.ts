import type { Size } from "./rect.ts";

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
