import type { Parameter } from "./dense.ts";

const MEAN_KEPT = 0.9;
const SQUARE_KEPT = 0.999;
const TINY = 1e-8;

/** Lowers the loss by one step along the gradients of its parameters. */
export type Optimizer = (rate: number) => void;

/** Adam with weight decay that is independent of the gradients (Loshchilov and Hutter, 2019). */
export function createAdamW(parameters: readonly Parameter[], decay: number): Optimizer {
  const moments = parameters.map(({ value }) => ({
    mean: new Float32Array(value.data.length),
    square: new Float32Array(value.data.length),
  }));
  let meanLeft = 1;
  let squareLeft = 1;
  return (rate) => {
    meanLeft *= MEAN_KEPT;
    squareLeft *= SQUARE_KEPT;
    for (const [which, { mean, square }] of moments.entries()) {
      const { value, gradient } = parameters[which]!;
      for (let at = 0; at < mean.length; at++) {
        const slope = gradient.data[at]!;
        mean[at] = MEAN_KEPT * mean[at]! + (1 - MEAN_KEPT) * slope;
        square[at] = SQUARE_KEPT * square[at]! + (1 - SQUARE_KEPT) * slope * slope;
        const step =
          mean[at]! / (1 - meanLeft) / (Math.sqrt(square[at]! / (1 - squareLeft)) + TINY);
        value.data[at] = value.data[at]! * (1 - rate * decay) - rate * step;
      }
    }
  };
}

/** From 0 up to 1 in the first three tenths of the steps, then down to 0 along a cosine. */
export function scheduleRate(step: number, steps: number): number {
  const warm = 0.3 * steps;
  if (step < warm) return (1 - Math.cos((Math.PI * step) / warm)) / 2;
  return (1 + Math.cos((Math.PI * (step - warm)) / (steps - warm))) / 2;
}
