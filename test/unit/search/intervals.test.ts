import { describe, expect, it } from "vitest";
import { calibrationErrorInterval, wilsonInterval } from "../../../src/search/intervals.ts";

const Z_95 = 1.959964;

describe("the Wilson interval", () => {
  // Newcombe, "Two-sided confidence intervals for the single proportion", 1998: table I, method 3.
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])("of %d in %d is the published one", (count, total, low, high) => {
    const interval = wilsonInterval(count, total, Z_95);
    expect(interval.low).toBeCloseTo(low, 4);
    expect(interval.high).toBeCloseTo(high, 4);
  });

  it("of 90 % is narrower than that of 95 %", () => {
    const [narrow, wide] = [wilsonInterval(30, 60), wilsonInterval(30, 60, Z_95)];
    expect(narrow.low).toBeGreaterThan(wide.low);
    expect(narrow.high).toBeLessThan(wide.high);
  });

  it("of all is up to 1, and of one alone is wide", () => {
    expect(wilsonInterval(40, 40).high).toBeCloseTo(1, 10);
    const { low, high } = wilsonInterval(1, 1);
    expect(high - low).toBeGreaterThan(0.7);
  });
});

/** Forecasts of one score of which a share came true, of `perQuery` a query. */
function forecasts(score: number, share: number, count: number, perQuery = 1) {
  return Array.from({ length: count }, (_, i) => ({
    score,
    isRight: i < share * count,
    queryKey: String(Math.floor(i / perQuery)),
  }));
}

describe("the interval of the calibration error", () => {
  it("begins at 0 for scores that came true, and is the same each time", () => {
    const right = [...forecasts(0.2, 0.2, 100), ...forecasts(0.8, 0.8, 100)];
    const interval = calibrationErrorInterval(right);
    expect(interval.low).toBe(0);
    expect(interval.high).toBeLessThan(0.1);
    expect(calibrationErrorInterval(right)).toEqual(interval);
  });

  it("surrounds the error of scores that are too high", () => {
    const { low, high } = calibrationErrorInterval(forecasts(0.8, 0.5, 200));
    expect(low).toBeGreaterThan(0.2);
    expect(low).toBeLessThan(0.3);
    expect(high).toBeGreaterThan(0.3);
    expect(high).toBeLessThan(0.4);
  });

  it("is wider if judgments of a query agree", () => {
    const width = (perQuery: number) => {
      const { low, high } = calibrationErrorInterval(forecasts(0.6, 0.5, 200, perQuery));
      return high - low;
    };
    expect(width(20)).toBeGreaterThan(1.5 * width(1));
  });
});
