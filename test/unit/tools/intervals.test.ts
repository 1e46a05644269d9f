import { describe, expect, it } from "vitest";
import { wilsonInterval } from "../../../tools/intervals.ts";

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
