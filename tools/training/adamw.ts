import type { TrainableParameter } from "./dense.ts";

const BETA_1 = 0.9;
const BETA_2 = 0.999;
const EPSILON = 1e-8;

/** Updates the parameters by one step along their gradients. */
export type Optimizer = (rate: number) => void;

/** Creates Adam with decoupled weight decay (Loshchilov and Hutter, 2019). */
export function createAdamW(parameters: readonly TrainableParameter[], decay: number): Optimizer {
  const moments = parameters.map(({ value }) => ({
    mean: new Float32Array(value.data.length),
    square: new Float32Array(value.data.length),
  }));
  let beta1Power = 1;
  let beta2Power = 1;
  return (rate) => {
    beta1Power *= BETA_1;
    beta2Power *= BETA_2;
    for (const [index, { mean, square }] of moments.entries()) {
      const { value, gradient } = parameters[index]!;
      for (let at = 0; at < mean.length; at++) {
        const slope = gradient.data[at]!;
        mean[at] = BETA_1 * mean[at]! + (1 - BETA_1) * slope;
        square[at] = BETA_2 * square[at]! + (1 - BETA_2) * slope * slope;
        const step =
          mean[at]! / (1 - beta1Power) / (Math.sqrt(square[at]! / (1 - beta2Power)) + EPSILON);
        value.data[at] = value.data[at]! * (1 - rate * decay) - rate * step;
      }
    }
  };
}

/**
 * Returns the learning-rate factor: cosine warm-up from 0 to 1 in the first 30 % of the steps, then
 * cosine decay to 0.
 */
export function scheduleRate(step: number, steps: number): number {
  const warmUpSteps = 0.3 * steps;
  if (step < warmUpSteps) return (1 - Math.cos((Math.PI * step) / warmUpSteps)) / 2;
  return (1 + Math.cos((Math.PI * (step - warmUpSteps)) / (steps - warmUpSteps))) / 2;
}
