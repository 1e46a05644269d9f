import { gelu, geluSlope } from "../../local/engine/picture-space/towers.ts";
import { createMatrix, type Matrix, multiply } from "./matrix.ts";
import { drawNormal, type Random } from "./random.ts";

/** Numbers that are learnt, and how the loss changes with each of them. */
export interface Parameter {
  value: Matrix;
  gradient: Matrix;
}

export function createParameter(value: Matrix): Parameter {
  return { value, gradient: createMatrix(value.rows, value.columns) };
}

/** Normally distributed with `deviation`. */
export function drawParameter(
  rows: number,
  columns: number,
  deviation: number,
  random: Random,
): Parameter {
  const value = createMatrix(rows, columns);
  for (let at = 0; at < value.data.length; at++) value.data[at] = deviation * drawNormal(random);
  return createParameter(value);
}

/** `backward` belongs to the last `forward`: it takes and gives how the loss changes. */
export interface Layer {
  readonly parameters: readonly Parameter[];
  forward(input: Matrix, training: boolean): Matrix;
  backward(change: Matrix): Matrix;
}

export interface Dense extends Layer {
  readonly weights: Parameter;
  readonly bias: Parameter;
}

/** input · weights + bias. */
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

/** Sets numbers to 0 with probability `share` while training, and scales up the others. */
export function createDropout(share: number, random: Random): Layer {
  let kept = new Float32Array();
  const apply = ({ rows, columns, data }: Matrix): Matrix => ({
    rows,
    columns,
    data: kept.length ? data.map((value, at) => value * kept[at]!) : data,
  });
  return {
    parameters: [],
    forward(input, training) {
      kept = new Float32Array(training ? input.data.length : 0);
      for (let at = 0; at < kept.length; at++) kept[at] = random() < share ? 0 : 1 / (1 - share);
      return apply(input);
    },
    backward: apply,
  };
}

/** See `gelu`. */
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

/** One layer behind the other. */
export function createSequence(layers: readonly Layer[]): Layer {
  return {
    parameters: layers.flatMap((layer) => layer.parameters),
    forward: (input, training) =>
      layers.reduce((given, layer) => layer.forward(given, training), input),
    backward: (change) => layers.reduceRight((given, layer) => layer.backward(given), change),
  };
}
