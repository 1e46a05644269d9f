import { describe, expect, it } from "vitest";
import {
  absenceProbability,
  conjunction,
  expectedProbability,
  scaleOdds,
} from "../../../../src/search/logic/conditions.ts";

describe("Probabilities of several things", () => {
  it.each<[number[], number]>([
    [[], 1],
    [[0.5], 0.5],
    [[0.5, 0.5], 0.25],
    [[0.9, 0, 1], 0],
  ])("%j together have %d", (probabilities, expected) => {
    expect(conjunction(probabilities)).toBeCloseTo(expected, 9);
  });

  it.each<[string, number[], number, number]>([
    ["one segment is 1 − presence", [0.7], 0.02, 0.3],
    ["one segment below the background, too", [0.01], 0.02, 0.99],
    ["many segments without evidence is that of one", Array(50).fill(0.02), 0.02, 0.98],
    ["two segments with evidence counts both", [0.51, 0.51], 0.02, 0.98 * 0.25],
    ["a certain segment is 0", [0.02, 1], 0.02, 0],
    ["no segment is 1", [], 0.02, 1],
    ["a background of 1 is 0", [1], 1, 0],
  ])("absence in %s", (_, presences, background, expected) => {
    expect(absenceProbability(presences, background)).toBeCloseTo(expected, 6);
  });

  it("absence is lower with more evidence, and stays a probability", () => {
    const values = [0, 0.01, 0.02, 0.3, 0.9, 1];
    for (const other of values) {
      const absences = values.map((value) => absenceProbability([value, other], 0.02));
      expect(absences).toEqual(absences.toSorted((a, b) => b - a));
      for (const absence of absences) {
        expect(absence).toBeGreaterThanOrEqual(0);
        expect(absence).toBeLessThanOrEqual(1);
      }
    }
  });

  it.each<[number, number, number]>([
    [0.5, 0.5, 1 / 3],
    [0.2, 1, 0.2],
    [0, 0.5, 0],
    [1, 0.5, 1],
    [0.5, 0, 0],
  ])("odds of %d times %d are %d", (probability, ratio, expected) => {
    expect(scaleOdds(probability, ratio)).toBeCloseTo(expected, 9);
  });

  it.each<[number[], number]>([
    [[], 0.5],
    [[0.1], 0.3],
    [Array(99).fill(0.1), 0.104],
  ])("%j lead to expect %d", (probabilities, expected) => {
    expect(expectedProbability(probabilities)).toBeCloseTo(expected, 6);
  });
});
