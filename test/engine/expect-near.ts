import { expect } from "vitest";

/** Expects each part of a colour within `tolerance` of the right one. */
export function expectNear(colour: number[], right: number[], tolerance: number): void {
  for (const [at, value] of right.entries()) {
    expect(
      Math.abs(colour[at]! - value),
      `${colour.join()} is ${right.join()}`,
    ).toBeLessThanOrEqual(tolerance);
  }
}
