import { expect, it } from "vitest";
import { applyCurve, type LogOddsCurve, toProbability } from "../../../src/search/fuse.ts";
import { fitCurve } from "../../../tools/calibration/fit-curve.ts";
import { createRandom } from "../../../tools/random-numbers.ts";

const CURVE = [
  { from: -1, to: -2 },
  { from: 0, to: -1.5 },
  { from: 2, to: 3 },
];

it.each<[string, LogOddsCurve, number, number]>([
  ["nothing without points", [], 1.25, 1.25],
  ["log odds at a point to its value", CURVE, 0, -1.5],
  ["log odds between two points in proportion", CURVE, 1, 0.75],
  ["log odds below the first point as far as it", CURVE, -5, -6],
  ["log odds above the last point as far as it", CURVE, 4, 5],
  ["log odds at the last point to its value", CURVE, 2, 3],
])("a curve changes %s", (_, curve, logOdds, expected) => {
  expect(applyCurve(curve, logOdds)).toBeCloseTo(expected, 10);
});

it("a curve is fitted to what was right of each forecast, and rises everywhere", () => {
  const random = createRandom(1);
  // Half of what is stated between .5 and .8 is right; all else is stated truly.
  const rightOf = (stated: number) => (stated > 0.5 && stated < 0.8 ? 0.5 : stated);
  const forecasts = Array.from({ length: 20_000 }, () => {
    const probability = random();
    return { probability, isRight: random() < rightOf(probability) };
  });
  const curve = fitCurve(forecasts);
  const correct = (stated: number) =>
    toProbability(applyCurve(curve, Math.log(stated / (1 - stated))));
  expect(correct(0.3)).toBeCloseTo(0.3, 1);
  expect(correct(0.65)).toBeCloseTo(0.5, 1);
  expect(correct(0.95)).toBeCloseTo(0.95, 1);
  for (const [i, { to }] of curve.entries()) {
    if (i > 0) expect(to).toBeGreaterThan(curve[i - 1]!.to);
  }
});
