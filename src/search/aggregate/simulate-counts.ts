import { toLogOdds, toProbability } from "../log-odds-line.ts";
import { drawBinomial, createRandom, drawNormal } from "../random-numbers.ts";
import { type CountedQuery, type CountModel, nearLogOdds, unfoundLogOdds } from "./count-model.ts";

/** A segment that a search found. */
interface CountedSegment {
  /** How far its score is from the lowest one to 1: 0–1. */
  excess: number;
  /** Segments that it stands for: with those that have its words but weren't read. */
  multiplicity: number;
  /** What it adds to a count if it is relevant: 1, or seconds. */
  weight: number;
  /** Numbers of the groups that it is in. */
  groups: readonly number[];
}

/** An asset with found segments. */
export interface CountedAsset {
  segments: readonly CountedSegment[];
  /** Its other segments: how many, what each adds on average, and the groups they are in. */
  unfound: { count: number; weight: number; groups: readonly number[] };
}

/** Items of a group that the search didn't find: segments, or assets without a found one. */
export interface Unfound {
  count: number;
  /** What an item adds to the count, on average. */
  weight: number;
  /** Segments of an item, on average: 1 for a segment. */
  segments: number;
}

/** What counts are estimated from. */
export interface CountInput extends CountedQuery {
  /** Whether an asset counts once, however many of its segments are relevant. */
  countsAssets: boolean;
  found: readonly CountedAsset[];
  /** Item i is about group i. A group beyond the last item is counted in the group `other`. */
  unfound: readonly Unfound[];
  other: number;
}

/** An expected number, and its interval of 90 %. */
interface CountEstimate {
  count: number;
  interval: [low: number, high: number];
}

const SEED = 1;
/** Segments that are drawn, and the least and the most archives. */
const [MAX_DRAWN, MIN_ARCHIVES, MAX_ARCHIVES] = [4e5, 400, 1000];
/** Segments that are drawn in some 20 ms. */
const SLICE_DRAWN = 100_000;
/** Probability on each side of an interval. */
const TAIL = 0.05;

/**
 * Estimates how much of each group is relevant: means and intervals of simulated archives (Gelman
 * and Hill, "Data analysis using regression and multilevel/hierarchical models", 2007, chapter 7).
 * `pause` lets other requests run.
 */
export async function simulateCounts(
  input: CountInput,
  model: CountModel,
  pause: () => Promise<void>,
): Promise<CountEstimate[]> {
  const size =
    input.unfound.length + input.found.reduce((sum, one) => sum + one.segments.length, 0);
  const archives = Math.ceil(Math.min(MAX_ARCHIVES, Math.max(MIN_ARCHIVES, MAX_DRAWN / size)));
  const samples = input.unfound.map(() => new Float64Array(archives));
  const simulation = new Simulation(input, model);
  for (let at = 0, drawn = 0; at < archives; at++) {
    for (const [group, value] of simulation.drawArchive().entries()) samples[group]![at] = value;
    drawn += size;
    if (drawn < SLICE_DRAWN) continue;
    drawn = 0;
    await pause();
  }
  return samples.map((sample, group) => {
    const count = simulation.expected[group]! / archives;
    const [low, high] = centralInterval(sample);
    return { count, interval: [Math.min(low, count), Math.max(high, count)] };
  });
}

/** Draws archives in which segments are relevant or not. */
class Simulation {
  /** The expected numbers of all archives, by group: they vary less than what is drawn. */
  readonly expected: Float64Array;
  readonly #input: CountInput;
  readonly #model: CountModel;
  readonly #random = createRandom(SEED);
  /** Log odds of each found segment of each asset. */
  readonly #logOdds: number[][];
  readonly #base: number;
  readonly #near: number;

  constructor(input: CountInput, model: CountModel) {
    this.#input = input;
    this.#model = model;
    this.#base = unfoundLogOdds(model, input);
    this.#near = nearLogOdds(model, input);
    this.#logOdds = input.found.map(({ segments }) =>
      segments.map(({ excess }) => model.hit.offset + model.hit.slope * toLogOdds(excess)),
    );
    this.expected = new Float64Array(input.unfound.length);
  }

  /** Returns what is relevant in an archive, by group. */
  drawArchive(): Float64Array {
    const { hit, unfound, correlation, assetDeviation } = this.#model;
    const ofQuery = drawNormal(this.#random);
    const rest = Math.sqrt(1 - correlation ** 2) * drawNormal(this.#random);
    const base = this.#base + unfound.deviation * (correlation * ofQuery + rest);
    const drawn = new Float64Array(this.expected.length);
    for (const at of this.#input.found.keys()) {
      const ofAsset = assetDeviation * drawNormal(this.#random);
      const shift = hit.deviation * ofQuery + ofAsset;
      if (this.#input.countsAssets) this.#drawAsset(at, shift, base + ofAsset, drawn);
      else this.#drawSegments(at, shift, base + ofAsset, drawn);
    }
    for (const [group, { count, weight, segments }] of this.#input.unfound.entries()) {
      const probability = anyOf(segments, toProbability(base));
      drawn[group]! += weight * drawBinomial(count, probability, this.#random);
      this.expected[group]! += weight * count * probability;
    }
    return drawn;
  }

  /** Returns the probability that a segment of an asset is relevant: noisy-or, as of its score. */
  #probability(at: number, segment: number, shift: number, near: number): number {
    return 1 - (1 - near) * (1 - toProbability(this.#logOdds[at]![segment]! + shift));
  }

  #drawSegments(at: number, shift: number, base: number, drawn: Float64Array): void {
    const { segments, unfound } = this.#input.found[at]!;
    const near = toProbability(base + this.#near);
    for (const [i, { multiplicity, weight, groups }] of segments.entries()) {
      const probability = this.#probability(at, i, shift, near);
      const count = drawBinomial(multiplicity, probability, this.#random);
      for (const group of groups) {
        const target = this.#targetOf(group);
        drawn[target]! += weight * count;
        this.expected[target]! += weight * multiplicity * probability;
      }
    }
    const { count, weight, groups } = unfound;
    const probability = toProbability(base);
    const relevant = drawBinomial(count, probability, this.#random);
    for (const group of groups) {
      const target = this.#targetOf(group);
      drawn[target]! += weight * relevant;
      this.expected[target]! += weight * count * probability;
    }
  }

  #targetOf(group: number): number {
    return group < this.expected.length ? group : this.#input.other;
  }

  #drawAsset(at: number, shift: number, base: number, drawn: Float64Array): void {
    const { segments, unfound } = this.#input.found[at]!;
    const near = toProbability(base + this.#near);
    const none = new Map<number, number>();
    const multiply = (groups: readonly number[], factor: number) => {
      for (const group of groups) none.set(group, (none.get(group) ?? 1) * factor);
    };
    for (const [i, { multiplicity, groups }] of segments.entries()) {
      multiply(groups, (1 - this.#probability(at, i, shift, near)) ** multiplicity);
    }
    multiply(unfound.groups, 1 - anyOf(unfound.count, toProbability(base)));
    const threshold = this.#random();
    for (const [group, probability] of none) {
      const target = this.#targetOf(group);
      if (threshold >= probability) drawn[target]!++;
      this.expected[target]! += 1 - probability;
    }
  }
}

/** Returns the probability that any of some segments is relevant, each with the same one. */
function anyOf(count: number, probability: number): number {
  return count === 1 ? probability : 1 - (1 - probability) ** count;
}

/**
 * Returns the least and the greatest value whose middle has at least `TAIL` on either side: mid-p
 * intervals cover as they say on average, though counts are whole (Lancaster, "Significance tests
 * in discrete distributions", JASA 1961).
 */
export function centralInterval(sample: Float64Array): [low: number, high: number] {
  const sorted = sample.toSorted();
  const within: number[] = [];
  for (let start = 0; start < sorted.length;) {
    const value = sorted[start]!;
    let end = start;
    while (end < sorted.length && sorted[end] === value) end++;
    const middle = (start + end) / 2 / sorted.length;
    if (middle >= TAIL && middle <= 1 - TAIL) within.push(value);
    start = end;
  }
  return [within[0]!, within.at(-1)!];
}
