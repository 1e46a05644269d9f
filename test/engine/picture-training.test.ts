import { beforeAll, describe, expect, it } from "vitest";
import { startBackend } from "../../local/engine/tensor-graph.ts";
import { createBag } from "../../scripts/picture-space/bag.ts";
import { contrast } from "../../scripts/picture-space/contrast.ts";
import {
  createDense,
  createDropout,
  createGelu,
  createSequence,
  type Parameter,
} from "../../scripts/picture-space/dense.ts";
import { createMatrix, type Matrix } from "../../scripts/picture-space/matrix.ts";
import { denormalize, normalizeRows } from "../../scripts/picture-space/normalize.ts";
import { createRandom, drawNormal, shuffle } from "../../scripts/picture-space/random.ts";

const STEP = 1e-3;
/** Numbers have 24 bits, so that the differences of losses are rough. */
const TOLERANCE = 2e-3;

beforeAll(startBackend);

function drawMatrix(rows: number, columns: number, seed: number): Matrix {
  const random = createRandom(seed);
  const matrix = createMatrix(rows, columns);
  matrix.data.set(matrix.data.map(() => drawNormal(random)));
  return matrix;
}

/** Expects each gradient to be what a small change of its number does to the loss. */
function expectSlopes(parameters: readonly Parameter[], loss: () => number): void {
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
  it("are those of finite differences", () => {
    const random = createRandom(3);
    const tower = createSequence([
      createDropout(0.5, random),
      createDense(5, 4, random),
      createGelu(),
      createDense(4, 3, random),
    ]);
    const bag = createBag(6, 3, random);
    bag.words.value.data.set(drawMatrix(6, 3, 9).data);
    const pictures = drawMatrix(4, 5, 1);
    const texts = [[0, 1, 5], [2], [3, 4], []];
    const logScale: Parameter = { value: createMatrix(1, 1), gradient: createMatrix(1, 1) };
    logScale.value.data[0] = 0.7;
    const run = () => {
      const seen = normalizeRows(tower.forward(pictures, false));
      const output = bag.forward(texts);
      output.data[9] = 1;
      const told = normalizeRows(output);
      return { seen, told, ...contrast(seen.rows, told.rows, logScale.value.data[0] ?? 0) };
    };
    const { seen, told, ...slopes } = run();
    tower.backward(denormalize(seen, slopes.pictures));
    bag.backward(denormalize(told, slopes.texts));
    logScale.gradient.data[0] = slopes.logScale;
    expectSlopes([...tower.parameters, bag.words, logScale], () => run().loss);
  });

  it("pass a dropout as the numbers did", () => {
    const layer = createDropout(0.25, createRandom(1));
    const ones = { ...createMatrix(100, 100), data: new Float32Array(10_000).fill(1) };
    const output = layer.forward(ones, true);
    const mean = output.data.reduce((sum, value) => sum + value, 0) / 10_000;
    expect(mean).toBeCloseTo(1, 1);
    expect(layer.backward(ones).data).toEqual(output.data);
    expect(layer.forward(ones, false).data).toEqual(ones.data);
  });
});

describe("chance", () => {
  it("is the same for the same seed, and another for another", () => {
    expect(shuffle(50, createRandom(7))).toEqual(shuffle(50, createRandom(7)));
    expect(shuffle(50, createRandom(7))).not.toEqual(shuffle(50, createRandom(8)));
    expect(shuffle(50, createRandom(7)).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 50 }, (_, at) => at),
    );
  });
});
