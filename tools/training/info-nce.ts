import { createMatrix, type Matrix, multiply } from "./matrix.ts";

export interface InfoNceGradients {
  /** Mean loss of both directions, in nats. */
  loss: number;
  /** Gradients of the loss: of images, of texts, of the logarithm of the scale. */
  images: Matrix;
  texts: Matrix;
  logScale: number;
}

/**
 * InfoNCE in both directions (Radford et al., 2021): row i of `images` belongs to row i of `texts`
 * and to no other. Rows have length 1; `logScale` is the logarithm of the inverse temperature.
 */
export function infoNce(images: Matrix, texts: Matrix, logScale: number): InfoNceGradients {
  const scale = Math.exp(logScale);
  const cosines = multiply(images, texts, { b: true });
  const count = images.rows;
  const gradient = createMatrix(count, count);
  let loss = 0;
  for (const [stride, step] of [
    [count, 1],
    [1, count],
  ] as const) {
    for (let item = 0; item < count; item++) {
      let sum = 0;
      // Cosines are at most 1, so nothing overflows.
      for (let at = 0; at < count; at++) {
        sum += Math.exp(scale * (cosines.data[item * stride + at * step]! - 1));
      }
      for (let at = 0; at < count; at++) {
        const cell = item * stride + at * step;
        const share = Math.exp(scale * (cosines.data[cell]! - 1)) / sum;
        gradient.data[cell]! += (share - (at === item ? 1 : 0)) / (2 * count);
        if (at === item) loss -= Math.log(share) / (2 * count);
      }
    }
  }
  const logScaleGradient =
    scale * gradient.data.reduce((sum, value, at) => sum + value * cosines.data[at]!, 0);
  for (let at = 0; at < gradient.data.length; at++) gradient.data[at]! *= scale;
  return {
    loss,
    images: multiply(gradient, texts),
    texts: multiply(gradient, images, { a: true }),
    logScale: logScaleGradient,
  };
}
