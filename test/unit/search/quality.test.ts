import { describe, expect, it } from "vitest";
import type { ScoredJudgment } from "../../../src/index-calibration.ts";
import { JUDGMENTS } from "../../../src/parameters.ts";
import { toLogOdds } from "../../../src/search/log-odds-line.ts";
import { measureQuality, toJudgedScores } from "../../../src/search/quality.ts";

function judgment(
  score: number | null,
  isRelevant: boolean,
  queryKey = "q",
  calibrationTag = 1,
): ScoredJudgment {
  const logOdds = score === null ? null : toLogOdds(score);
  return { queryKey, isRelevant, logOdds, evidenceKind: "visual", calibrationTag };
}

const repeat = (count: number, make: (i: number) => ScoredJudgment) =>
  Array.from({ length: count }, (_, i) => make(i));

describe("figures of judgments", () => {
  it("are null if there are too few, which they say", () => {
    const few = repeat(JUDGMENTS.minMeasured - 1, () => judgment(0.8, true));
    const unfound = repeat(20, () => judgment(null, true));
    expect(measureQuality([...few, ...unfound])).toEqual({
      count: JUDGMENTS.minMeasured + 19,
      relevantCount: JUDGMENTS.minMeasured + 19,
      isEnough: false,
      precision: null,
      calibrationError: null,
      ndcg: null,
      bins: null,
    });
  });

  it("have the precision from each threshold on, with its interval", () => {
    const { precision } = measureQuality([
      ...repeat(20, (i) => judgment(0.8, i < 16)),
      ...repeat(20, (i) => judgment(0.4, i < 4)),
    ]);
    const values = precision!.map(({ threshold, count, precision: value }) => {
      return [threshold, count, value];
    });
    expect(values).toEqual([
      [0.1, 40, 0.5],
      [0.3, 40, 0.5],
      [0.5, 20, 0.8],
      [0.7, 20, 0.8],
      [0.9, 0, null],
    ]);
    expect(precision![4]!.interval).toBeNull();
    const { low, high } = precision![2]!.interval!;
    expect(low).toBeGreaterThan(0.6);
    expect(high).toBeLessThan(0.92);
  });

  it("have the calibration error of the scores, and of the adjusted ones with a line", () => {
    const tooHigh = repeat(60, (i) => judgment(0.8, i < 30));
    expect(measureQuality(tooHigh).calibrationError!.value).toBeCloseTo(0.3, 10);
    const line = { slope: 1, offset: -toLogOdds(0.8) };
    expect(measureQuality(tooHigh, line).calibrationError!.value).toBeCloseTo(0, 10);
    const [bin] = measureQuality(tooHigh).bins!;
    expect(bin).toMatchObject({ count: 60, observed: 0.5 });
    expect(bin!.low).toBeLessThan(0.5);
    expect(bin!.high).toBeGreaterThan(0.5);
  });

  it("have the nDCG of queries with a relevant segment, in which unfound ones gain nothing", () => {
    const first = [judgment(0.9, true, "a"), judgment(0.8, false, "a")];
    const second = [judgment(0.9, false, "b"), judgment(0.8, true, "b")];
    const unfound = [judgment(0.9, true, "c"), judgment(null, true, "c")];
    const none = repeat(30, () => judgment(0.3, false, "d"));
    const { ndcg } = measureQuality([...first, ...second, ...unfound, ...none]);
    const half = 1 / Math.log2(3);
    expect(ndcg!.queryCount).toBe(3);
    expect(ndcg!.value).toBeCloseTo((1 + half + 1 / (1 + half)) / 3, 10);
    expect(measureQuality(none).ndcg).toBeNull();
  });
});

it("scores to fit to are those of found segments with the present parameters", () => {
  const judgments = [judgment(0.5, true), judgment(null, true), judgment(0.5, true, "q", 2)];
  expect(toJudgedScores(judgments, 1)).toEqual([{ queryKey: "q", isRelevant: true, logOdds: 0 }]);
});
