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
  const columns = resizeRows(luma, width, height, to.width);
  const turned = transpose(columns, to.width, height);
  const rows = resizeRows(turned, height, to.width, to.height);
  return Uint8Array.from(transpose(rows, to.height, to.width), (value) => value + 0.5);
}

/** Resizes each of `count` rows of `length` values to another length. */
function resizeRows(
  values: ArrayLike<number>,
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
      for (let tap = 0; tap < taps; tap++) sum += values[first + tap]! * weights[i * taps + tap]!;
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

function transpose(values: Float32Array, width: number, height: number): Float32Array {
  const result = new Float32Array(values.length);
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) result[x * height + y] = values[at]!;
  }
  return result;
}
