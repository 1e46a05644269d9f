import { SIGNATURE } from "../../parameters.ts";
import { toIntegralImage } from "./integral-image.ts";

const SIDE = SIGNATURE.side;
/** Radius of the box filter that is subtracted from each pixel, in pixels. */
const RADIUS = 4;
/** Keeps images without detail from correlating by their noise, in levels² a pixel. */
const NOISE_VARIANCE = 1;

/**
 * High-pass filters `SIGNATURE.side`² luma: each pixel less the mean of its surroundings, as a
 * vector of at most unit length. Pages of different text that are light and dark in the same places
 * correlate little by it.
 */
export function highPassVector(luma: Uint8Array): Float64Array {
  const { sums } = toIntegralImage(luma);
  const sumTo = (x: number, y: number) => sums[y * (SIDE + 1) + x]!;
  const detail = new Float64Array(luma.length);
  let energy = NOISE_VARIANCE * luma.length;
  for (let y = 0, i = 0; y < SIDE; y++) {
    const [top, bottom] = [Math.max(0, y - RADIUS), Math.min(SIDE, y + RADIUS + 1)];
    for (let x = 0; x < SIDE; x++, i++) {
      const [left, right] = [Math.max(0, x - RADIUS), Math.min(SIDE, x + RADIUS + 1)];
      const sum = sumTo(right, bottom) - sumTo(left, bottom) - sumTo(right, top) + sumTo(left, top);
      detail[i] = luma[i]! - sum / ((right - left) * (bottom - top));
      energy += detail[i]! ** 2;
    }
  }
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
