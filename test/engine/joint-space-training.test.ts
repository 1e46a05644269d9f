import { beforeAll, describe, expect, it } from "vitest";
import { startBackend } from "../../local/engine/tensor-graph.ts";
import { createRandom, drawNormal } from "../../tools/random-numbers.ts";
import {
  createDense,
  createDropout,
  createGelu,
  createSequence,
  type TrainableParameter,
} from "../../tools/training/dense.ts";
import { createEmbeddingBag } from "../../tools/training/embedding-bag.ts";
import { infoNce } from "../../tools/training/info-nce.ts";
import { createMatrix, type Matrix } from "../../tools/training/matrix.ts";
import { backpropagateNormalization, normalizeRows } from "../../tools/training/normalize.ts";
import { shuffle } from "../../tools/training/random.ts";

const STEP = 1e-3;
/** Floats have 24 bits, so differences of losses are imprecise. */
const TOLERANCE = 2e-3;

beforeAll(startBackend);

function drawMatrix(rows: number, columns: number, seed: number): Matrix {
  const random = createRandom(seed);
  const matrix = createMatrix(rows, columns);
  matrix.data.set(matrix.data.map(() => drawNormal(random)));
  return matrix;
}

/** Compares each gradient with a finite difference of the loss. */
function expectGradients(parameters: readonly TrainableParameter[], loss: () => number): void {
  for (const { value, gradient } of parameters) {
    for (const [at, number] of value.data.entries()) {
      value.data[at] = number + STEP;
      const above = loss();
      value.data[at] = number - STEP;
      const below = loss();
      value.data[at] = number;
      const slope = (above - below) / (2 * STEP);
      expect(Math.abs((gradient.data[at] ?? Number.NaN) - slope)).toBeLessThan(
        TOLERANCE * Math.max(1, Math.abs(slope)),
      );
    }
  }
}

describe("the gradients of the towers", () => {
  it("equal finite differences", () => {
    const random = createRandom(3);
    const tower = createSequence([
      createDropout(0.5, random),
      createDense(5, 4, random),
      createGelu(),
      createDense(4, 3, random),
    ]);
    const bag = createEmbeddingBag(6, 3, random);
    bag.words.value.data.set(drawMatrix(6, 3, 9).data);
    const imageFeatures = drawMatrix(4, 5, 1);
    const texts = [[0, 1, 5], [2], [3, 4], []];
    const logScale: TrainableParameter = {
      value: createMatrix(1, 1),
      gradient: createMatrix(1, 1),
    };
    logScale.value.data[0] = 0.7;
    const run = () => {
      const imageRows = normalizeRows(tower.forward(imageFeatures, false));
      const output = bag.forward(texts);
      output.data[9] = 1;
      const textRows = normalizeRows(output);
      return {
        imageRows,
        textRows,
        ...infoNce(imageRows.rows, textRows.rows, logScale.value.data[0] ?? 0),
      };
    };
    const { imageRows, textRows, ...slopes } = run();
    tower.backward(backpropagateNormalization(imageRows, slopes.images));
    bag.backward(backpropagateNormalization(textRows, slopes.texts));
    logScale.gradient.data[0] = slopes.logScale;
    expectGradients([...tower.parameters, bag.words, logScale], () => run().loss);
  });

  it("pass through the same dropout mask as the values", () => {
    const layer = createDropout(0.25, createRandom(1));
    const ones = { ...createMatrix(100, 100), data: new Float32Array(10_000).fill(1) };
    const output = layer.forward(ones, true);
    const mean = output.data.reduce((sum, value) => sum + value, 0) / 10_000;
    expect(mean).toBeCloseTo(1, 1);
    expect(layer.backward(ones).data).toEqual(output.data);
    expect(layer.forward(ones, false).data).toEqual(ones.data);
  });
});

describe("seeded random numbers", () => {
  it("depend on the seed only", () => {
    expect(shuffle(50, createRandom(7))).toEqual(shuffle(50, createRandom(7)));
    expect(shuffle(50, createRandom(7))).not.toEqual(shuffle(50, createRandom(8)));
    expect(shuffle(50, createRandom(7)).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 50 }, (_, at) => at),
    );
  });
});
