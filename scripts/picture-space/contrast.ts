import { createMatrix, type Matrix, multiply } from "./matrix.ts";

export interface Contrast {
  /** Mean over both directions, in nats. */
  loss: number;
  /** How the loss changes with the pictures, with the texts, with the logarithm of the scale. */
  pictures: Matrix;
  texts: Matrix;
  logScale: number;
}

/**
 * InfoNCE in both directions (Radford et al., 2021): row i of `pictures` belongs to row i of `texts`
 * and to no other. Rows have length 1; `logScale` is the logarithm of the inverse temperature.
 */
export function contrast(pictures: Matrix, texts: Matrix, logScale: number): Contrast {
  const scale = Math.exp(logScale);
  const cosines = multiply(pictures, texts, { b: true });
  const count = pictures.rows;
  const change = createMatrix(count, count);
  let loss = 0;
  for (const [stride, step] of [
    [count, 1],
    [1, count],
  ] as const) {
    for (let line = 0; line < count; line++) {
      let sum = 0;
      // Cosines are at most 1, so nothing overflows.
      for (let at = 0; at < count; at++) {
        sum += Math.exp(scale * (cosines.data[line * stride + at * step]! - 1));
      }
      for (let at = 0; at < count; at++) {
        const place = line * stride + at * step;
        const share = Math.exp(scale * (cosines.data[place]! - 1)) / sum;
        change.data[place]! += (share - (at === line ? 1 : 0)) / (2 * count);
        if (at === line) loss -= Math.log(share) / (2 * count);
      }
    }
  }
  const logScaleChange =
    scale * change.data.reduce((sum, value, at) => sum + value * cosines.data[at]!, 0);
  for (let at = 0; at < change.data.length; at++) change.data[at]! *= scale;
  return {
    loss,
    pictures: multiply(change, texts),
    texts: multiply(change, pictures, { a: true }),
    logScale: logScaleChange,
  };
}
