import { describe, expect, it } from "vitest";
import {
  type CountedScope,
  type CountedHit,
  toCountInput,
} from "../../../src/search/aggregate/count-input.ts";
import {
  COUNT_MODEL,
  type CountModel,
  excessOf,
  unfoundLogOdds,
} from "../../../src/search/aggregate/count-model.ts";
import {
  centralInterval,
  type CountInput,
  simulateCounts,
} from "../../../src/search/aggregate/simulate-counts.ts";
import { drawBinomial, createRandom } from "../../../src/search/random-numbers.ts";

describe("the binomial distribution", () => {
  it.each([
    [1, 0.3],
    [12, 0.02],
    [40, 0.9],
    [2000, 0.4],
    [5000, 0.001],
  ])("of %d events with a probability of %d has its mean and variance", (count, probability) => {
    const random = createRandom(7);
    const draws = Array.from({ length: 4000 }, () => drawBinomial(count, probability, random));
    const mean = draws.reduce((sum, one) => sum + one, 0) / draws.length;
    const variance = draws.reduce((sum, one) => sum + (one - mean) ** 2, 0) / draws.length;
    const expected = count * probability * (1 - probability);
    expect(Math.abs(mean - count * probability)).toBeLessThan(4 * Math.sqrt(expected / 4000));
    expect(variance / expected).toBeGreaterThan(0.85);
    expect(variance / expected).toBeLessThan(1.15);
    expect(draws.every((one) => one >= 0 && one <= count && Number.isInteger(one))).toBe(true);
  });

  it("of nothing is 0", () => {
    expect(drawBinomial(0, 0.5, Math.random)).toBe(0);
    expect(drawBinomial(5, 0, Math.random)).toBe(0);
    expect(drawBinomial(5, 1, Math.random)).toBe(5);
  });
});

describe("the central interval", () => {
  it.each<[string, number[], [number, number]]>([
    ["of one value is that", [3, 3, 3], [3, 3]],
    ["of a rare value is without it", [...Array(95).fill(0), 1, 1, 1, 1, 1], [0, 0]],
    ["of a frequent value has it", [...Array(80).fill(0), ...Array(20).fill(1)], [0, 1]],
    ["of many values leaves out a twentieth on each side", [...Array(100).keys()], [5, 94]],
  ])("%s", (_, sample, interval) => {
    expect(centralInterval(Float64Array.from(sample))).toEqual(interval);
  });
});

const SURE: CountModel = {
  hit: { offset: 0, slope: 1, deviation: 0 },
  unfound: { offset: -100, slope: 0, deviation: 0 },
  near: 0,
  imagesAlone: { near: 0, unfound: 0 },
  assetDeviation: 0,
  correlation: 0,
};
const pause = () => Promise.resolve();
const inputOf = (excesses: number[], change: Partial<CountInput> = {}): CountInput => ({
  countsAssets: false,
  mass: excesses.reduce((sum, one) => sum + one, 0),
  total: 1000,
  hasText: true,
  found: [
    {
      segments: excesses.map((excess) => ({ excess, multiplicity: 1, weight: 1, groups: [1] })),
      unfound: { count: 0, weight: 1, groups: [1] },
    },
  ],
  unfound: [
    { count: 0, weight: 1, segments: 1 },
    { count: 0, weight: 1, segments: 1 },
  ],
  other: 0,
  ...change,
});
const estimate = async (input: CountInput, model: CountModel) =>
  (await simulateCounts(input, model, pause))[1]!;

describe("an estimated number", () => {
  it("is the sum of the probabilities, with the interval of a binomial distribution", async () => {
    const { count, interval } = await estimate(inputOf(Array(100).fill(0.5)), SURE);
    expect(count).toBeCloseTo(50, 6);
    expect(interval[0]).toBeGreaterThanOrEqual(40);
    expect(interval[0]).toBeLessThanOrEqual(44);
    expect(interval[1]).toBeGreaterThanOrEqual(56);
    expect(interval[1]).toBeLessThanOrEqual(60);
  });

  it("counts many unlikely segments, which a threshold would leave out", async () => {
    const { count, interval } = await estimate(inputOf(Array(200).fill(0.1)), SURE);
    expect(count).toBeCloseTo(20, 6);
    expect(interval[0]).toBeGreaterThan(8);
  });

  it("has a wider interval if the segments of an asset depend on each other", async () => {
    const input = inputOf(Array(100).fill(0.5));
    const widthOf = async (assetDeviation: number) => {
      const { interval } = await estimate(input, { ...SURE, assetDeviation });
      return interval[1] - interval[0];
    };
    expect(await widthOf(1)).toBeGreaterThan(2 * (await widthOf(0)));
  });

  it("of assets is the probability that any segment is relevant", async () => {
    const input = inputOf([0.5, 0.5, 0.2], { countsAssets: true });
    expect((await estimate(input, SURE)).count).toBeCloseTo(1 - 0.5 * 0.5 * 0.8, 6);
  });

  it("is the same for the same input", async () => {
    const input = inputOf([0.2, 0.7, 0.9]);
    expect(await estimate(input, COUNT_MODEL)).toEqual(await estimate(input, COUNT_MODEL));
  });

  it("adds what wasn't found, by the share that was", async () => {
    const unfound = [0, 900].map((count) => ({ count, weight: 1, segments: 1 }));
    const none = await estimate(inputOf([0.001], { unfound }), COUNT_MODEL);
    const sure: number[] = Array(100).fill(0.9);
    const many = await estimate(inputOf(sure, { unfound }), COUNT_MODEL);
    const found = await estimate(inputOf(sure), COUNT_MODEL);
    expect(none.count).toBeLessThan(5);
    expect(many.count).toBeGreaterThan(found.count + 10);
    expect(none.interval[0]).toBe(0);
  });

  it("of greater group numbers is that of the others", async () => {
    const input = inputOf([0.5]);
    const segment = { ...input.found[0]!.segments[0]!, groups: [7, 8] };
    const found = [{ ...input.found[0]!, segments: [segment] }];
    const [others] = await simulateCounts({ ...input, found }, SURE, pause);
    expect(others!.count).toBeCloseTo(1, 6);
  });
});

describe("the model of counts", () => {
  it.each([
    [0.5, 0.5, 0],
    [0.4, 0.5, 0],
    [0.75, 0.5, 0.5],
    [1, 0.5, 1],
  ])("takes a score of %d above a lowest of %d for an excess of %d", (score, lowest, excess) => {
    expect(excessOf(score, lowest)).toBeCloseTo(excess, 10);
  });

  it("expects less of the unfound where less was found", () => {
    const of = (mass: number) =>
      unfoundLogOdds(COUNT_MODEL, { mass, total: 10_000, hasText: true });
    expect([of(0), of(10), of(1000)]).toEqual([of(0), of(10), of(1000)].toSorted((a, b) => a - b));
  });
});

const SECOND = { segments: 10, durationMs: 20_000, assets: 1 };
const scored = (assetId: string, excess: number, keys: CountedHit["keys"]): CountedHit => ({
  assetId,
  durationMs: 2000,
  excess,
  hasWords: true,
  keys,
});
const scopeOf = (change: Partial<CountedScope> = {}): CountedScope => ({
  unit: "segments",
  top: 1,
  isByAsset: true,
  list: {
    groups: ["A", "B"].map((key) => Object.assign({ key, title: null }, SECOND)),
    groupCount: 3,
    sum: { segments: 35, durationMs: 70_000, assets: 4 },
    total: { segments: 35, durationMs: 70_000, assets: 4 },
  },
  assets: new Map(["vid_1", "vid_2"].map((id) => [id, SECOND])),
  matchCount: 3,
  mayBeUnfound: true,
  hasText: true,
  ...change,
});
const FOUND = [
  scored("vid_1", 0.9, ["A"]),
  scored("vid_1", 0.1, ["A"]),
  scored("vid_2", 0.5, ["B"]),
];

describe("the input of an estimate", () => {
  it("has the largest group, the others and all, each with what wasn't found", () => {
    const { keys, input } = toCountInput(FOUND, scopeOf(), COUNT_MODEL);
    expect(keys).toEqual(["A"]);
    expect(input).toMatchObject({ mass: 1.5, total: 35, other: 1, countsAssets: false });
    const groups = input.found.map(({ segments, unfound }) => [segments[0]!.groups, unfound.count]);
    expect(groups).toEqual([
      [[0, 2], 8],
      [[3, 2], 9],
    ]);
    expect(input.unfound.map(({ count }) => count)).toEqual([0, 15, 15]);
  });

  it("of seconds weighs segments, and of assets counts those without a found segment", () => {
    const bySeconds = toCountInput(FOUND, scopeOf({ unit: "seconds" }), COUNT_MODEL).input;
    expect(bySeconds.found[0]!.segments[0]!.weight).toBe(2);
    expect(bySeconds.unfound[2]).toEqual({ count: 15, weight: 2, segments: 1 });
    const byAssets = toCountInput(FOUND, scopeOf({ unit: "assets" }), COUNT_MODEL).input;
    expect(byAssets.unfound[2]).toEqual({ count: 2, weight: 1, segments: 7.5 });
  });

  it("lets the lowest segments with words stand for those that weren't read", () => {
    const { input } = toCountInput(FOUND, scopeOf({ matchCount: 8 }), COUNT_MODEL);
    const all = input.found.flatMap(({ segments }) => segments.map((one) => one.multiplicity));
    expect(all).toEqual([1, 6, 1]);
  });

  it("has nothing that wasn't found if a phrase is required", () => {
    const { input } = toCountInput(FOUND, scopeOf({ mayBeUnfound: false }), COUNT_MODEL);
    expect(input.unfound.map(({ count }) => count)).toEqual([0, 0, 0]);
    expect(input.found.map(({ unfound }) => unfound.count)).toEqual([0, 0]);
  });

  it("of labels counts the other segments of an asset for all alone", () => {
    const { input } = toCountInput(FOUND, scopeOf({ isByAsset: false }), COUNT_MODEL);
    expect(input.found[0]!.unfound).toMatchObject({ count: 8, groups: [2] });
    expect(input.unfound[0]!.count).toBe(8);
  });
});
