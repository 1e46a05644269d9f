import { gelu, geluSlope } from "../../local/engine/joint-space/towers.ts";
import { drawNormal, type Random } from "../random-numbers.ts";
import { createMatrix, type Matrix, multiply } from "./matrix.ts";

/** A trainable matrix and the gradient of the loss. */
export interface TrainableParameter {
  value: Matrix;
  gradient: Matrix;
}

export function createParameter(value: Matrix): TrainableParameter {
  return { value, gradient: createMatrix(value.rows, value.columns) };
}

/** Draws a parameter from a normal distribution with standard deviation `deviation`. */
export function drawParameter(
  rows: number,
  columns: number,
  deviation: number,
  random: Random,
): TrainableParameter {
  const value = createMatrix(rows, columns);
  for (let at = 0; at < value.data.length; at++) value.data[at] = deviation * drawNormal(random);
  return createParameter(value);
}

/**
 * A layer. `backward` belongs to the last `forward`: it takes the gradient of the output and
 * returns that of the input.
 */
export interface Layer {
  readonly parameters: readonly TrainableParameter[];
  forward(input: Matrix, training: boolean): Matrix;
  backward(change: Matrix): Matrix;
}

export interface Dense extends Layer {
  readonly weights: TrainableParameter;
  readonly bias: TrainableParameter;
}

/** Fully connected layer: input · weights + bias. */
export function createDense(inputs: number, outputs: number, random: Random): Dense {
  const weights = drawParameter(inputs, outputs, 1 / Math.sqrt(3 * inputs), random);
  const bias = createParameter(createMatrix(1, outputs));
  let last = createMatrix(0, inputs);
  return {
    weights,
    bias,
    parameters: [weights, bias],
    forward(input) {
      last = input;
      const output = multiply(input, weights.value);
      for (let at = 0; at < output.data.length; at++) {
        output.data[at]! += bias.value.data[at % outputs]!;
      }
      return output;
    },
    backward(change) {
      weights.gradient = multiply(last, change, { a: true });
      bias.gradient.data.fill(0);
      for (let at = 0; at < change.data.length; at++) {
        bias.gradient.data[at % outputs]! += change.data[at]!;
      }
      return multiply(change, weights.value, { b: true });
    },
  };
}

/** Dropout: sets values to 0 with probability `share` while training, and scales up the others. */
export function createDropout(share: number, random: Random): Layer {
  let mask = new Float32Array();
  const apply = ({ rows, columns, data }: Matrix): Matrix => ({
    rows,
    columns,
    data: mask.length ? data.map((value, at) => value * mask[at]!) : data,
  });
  return {
    parameters: [],
    forward(input, training) {
      mask = new Float32Array(training ? input.data.length : 0);
      for (let at = 0; at < mask.length; at++) mask[at] = random() < share ? 0 : 1 / (1 - share);
      return apply(input);
    },
    backward: apply,
  };
}

/** GELU activation; see `gelu`. */
export function createGelu(): Layer {
  let last = createMatrix(0, 0);
  return {
    parameters: [],
    forward(input) {
      last = input;
      return { ...input, data: input.data.map(gelu) };
    },
    backward: (change) => ({
      ...change,
      data: change.data.map((value, at) => value * geluSlope(last.data[at]!)),
    }),
  };
}

/** Runs layers one after another. */
export function createSequence(layers: readonly Layer[]): Layer {
  return {
    parameters: layers.flatMap((layer) => layer.parameters),
    forward: (input, training) =>
      layers.reduce((given, layer) => layer.forward(given, training), input),
    backward: (change) => layers.reduceRight((given, layer) => layer.backward(given), change),
  };
}
