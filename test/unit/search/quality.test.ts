import { expect, it } from "vitest";
import { toLogOdds } from "../../../src/search/fuse.ts";
import { countJudgments } from "../../../src/search/judge.ts";

const judgment = (score: number | null, isRelevant: boolean, calibrationTag = 1) => {
  return {
    relevant: Number(isRelevant),
    logOdds: score === null ? null : toLogOdds(score),
    calibrationTag,
  };
};

it("judgments are counted by tenth of the score, but for unfound and outdated ones", () => {
  const scores = [0, 0.04, 0.55, 0.5501, 0.99, 1];
  const judgments = [
    ...scores.map((score, i) => judgment(score, i % 2 === 1)),
    judgment(null, true),
    judgment(0.3, true, 2),
  ];
  const { tenths, ...counts } = countJudgments(judgments, 1);
  expect(counts).toEqual({ judged: 8, right: 5, unfound: 1, outdated: 1 });
  expect(tenths).toHaveLength(10);
  expect(tenths[0]).toMatchObject({ judged: 2, right: 1 });
  expect(tenths[3]).toEqual({ from: 0.3, judged: 0, right: 0 });
  expect(tenths[5]).toMatchObject({ judged: 2, right: 1 });
  expect(tenths[9]).toMatchObject({ judged: 2, right: 1 });
});
