import { SIGNATURE } from "../config.ts";
import { openGrey } from "./grey-picture.ts";

const SIDE = SIGNATURE.side;
/** How far around a pixel it is compared with its surroundings, in pixels. */
const AROUND = 4;
/** Keeps pictures without detail from correlating by their noise: levels² a pixel. */
const NOISE = 1;

/**
 * What is fine in a picture of `SIGNATURE.side`² grey pixels: how much lighter each is than its surroundings,
 * as a vector of at most unit length. Pages of different words that are light and dark in the same places have
 * little of it in common.
 */
export function detailOf(grey: Uint8Array): Float64Array {
  const { sums } = openGrey(grey);
  const sumTo = (x: number, y: number) => sums[y * (SIDE + 1) + x]!;
  const detail = new Float64Array(grey.length);
  let energy = NOISE * grey.length;
  for (let y = 0, i = 0; y < SIDE; y++) {
    const [top, bottom] = [Math.max(0, y - AROUND), Math.min(SIDE, y + AROUND + 1)];
    for (let x = 0; x < SIDE; x++, i++) {
      const [left, right] = [Math.max(0, x - AROUND), Math.min(SIDE, x + AROUND + 1)];
      const sum = sumTo(right, bottom) - sumTo(left, bottom) - sumTo(right, top) + sumTo(left, top);
      detail[i] = grey[i]! - sum / ((right - left) * (bottom - top));
      energy += detail[i]! ** 2;
    }
  }
  return detail.map((value) => value / Math.sqrt(energy));
}
