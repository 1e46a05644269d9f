import { describe, expect, it } from "vitest";
import { JUDGMENTS } from "../../../src/parameters.ts";
import {
  applyLine,
  fitLine,
  IDENTITY,
  type JudgedScore,
  logLoss,
  type LogOddsLine,
  selectLine,
  toLogOdds,
  toProbability,
} from "../../../src/search/log-odds-line.ts";

/** Judgments of queries whose share of relevant ones is about what a line says. */
function judgedBy(line: LogOddsLine, queries: number): JudgedScore[] {
  const logOdds = [-3, -2, -1, 0, 1, 2];
  return Array.from({ length: queries }, (_, query) =>
    logOdds.flatMap((value) =>
      Array.from({ length: 20 }, (_, i) => ({
        logOdds: value,
        isRelevant: ((i + 0.5) / 20 + query * 0.618) % 1 < applyLine(line, value),
        queryKey: `q${query}`,
      })),
    ),
  ).flat();
}

describe("log odds", () => {
  it.each([0.001, 0.2, 0.5, 0.93])("of the score %d lead back to it", (score) => {
    expect(toProbability(toLogOdds(score))).toBeCloseTo(score, 12);
  });

  it("of 0 and 1 are finite", () => {
    expect(toLogOdds(0)).toBe(-20);
    expect(toLogOdds(1)).toBe(20);
  });
});

describe("a line fitted to judgments", () => {
  it.each<LogOddsLine>([
    { slope: 1, offset: 0 },
    { slope: 0.6, offset: -1 },
    { slope: 1.5, offset: 0.8 },
  ])("is near the one that made them: %j", (line) => {
    const fitted = fitLine(judgedBy(line, 40));
    expect(Math.abs(fitted.slope - line.slope)).toBeLessThan(0.1);
    expect(Math.abs(fitted.offset - line.offset)).toBeLessThan(0.1);
  });

  it("is the general one without judgments, and near it with one", () => {
    expect(fitLine([])).toEqual(IDENTITY);
    const { slope, offset } = fitLine([{ logOdds: 2, isRelevant: false, queryKey: "q" }]);
    expect(slope).toBeGreaterThan(0.5);
    expect(Math.abs(offset)).toBeLessThan(1.5);
  });

  it("has a slope above 0 even if high scores are wrong and low ones right", () => {
    const reversed = judgedBy({ slope: -2, offset: 0 }, 10);
    const { slope } = fitLine(reversed);
    expect(slope).toBeGreaterThan(0);
    expect(applyLine({ slope, offset: 0 }, 1)).toBeGreaterThan(applyLine({ slope, offset: 0 }, 0));
  });

  it("is the same in any order of the judgments", () => {
    const judged = judgedBy({ slope: 0.7, offset: 0.4 }, 4);
    const reversed = fitLine(judged.toReversed());
    expect(reversed.slope).toBeCloseTo(fitLine(judged).slope, 6);
  });

  it("loses less than any line near it, with the prior", () => {
    const judged = judgedBy({ slope: 0.7, offset: -0.5 }, 3);
    const { slope, offset } = fitLine(judged);
    const loss = (line: LogOddsLine) =>
      judged.reduce((sum, one) => sum + logLoss(line, one), 0) +
      ((line.slope - 1) / 0.2) ** 2 / 2 +
      (line.offset / 0.5) ** 2 / 2;
    for (const [a, b] of [
      [0.05, 0],
      [-0.05, 0],
      [0, 0.05],
      [0, -0.05],
    ] as const) {
      expect(loss({ slope: slope + a, offset: offset + b })).toBeGreaterThan(
        loss({ slope, offset }),
      );
    }
  });
});

describe("the line that an index uses", () => {
  const shifted = judgedBy({ slope: 1, offset: -1.5 }, 12);

  it("is the general one with too few judgments", () => {
    expect(selectLine(shifted.slice(0, JUDGMENTS.minFitted - 1))).toBeNull();
  });

  it("is the general one if it is right already", () => {
    expect(selectLine(judgedBy(IDENTITY, 12))).toBeNull();
  });

  it("is the general one with a single query, which nothing can be held out of", () => {
    expect(selectLine(judgedBy({ slope: 1, offset: -1.5 }, 1))).toBeNull();
  });

  it("is its own if that predicts other queries better", () => {
    const line = selectLine(shifted)!;
    expect(line.offset).toBeLessThan(-1);
    expect(line.slope).toBeGreaterThan(0.7);
    expect(Number(line.slope.toFixed(2))).toBe(line.slope);
  });
});
