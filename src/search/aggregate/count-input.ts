import {
  addSizes,
  type GroupKey,
  type GroupList,
  keyId,
  NO_SIZES,
  type Sizes,
} from "../../store/index-database/groups.ts";
import { toLogOdds, toProbability } from "../log-odds-line.ts";
import type { CountModel } from "./count-model.ts";
import type { CountUnit } from "./counts.ts";
import type { CountInput, CountedAsset, Unfound } from "./simulate-counts.ts";

/** A segment that a search found, and what is known of it. */
export interface CountedHit {
  assetId: string;
  durationMs: number;
  /** How far its score is above the lowest one. */
  excess: number;
  /** Whether the full-text search found it. */
  hasWords: boolean;
  keys: readonly GroupKey[];
}

/** What is counted, beside the segments that were found. */
export interface CountedScope {
  unit: CountUnit;
  /** Groups to return. */
  top: number;
  /** Whether all segments of an asset are in the same groups. */
  isByAsset: boolean;
  /** The groups of what is in scope. */
  list: GroupList;
  /** Sizes of the assets with found segments, by id. */
  assets: ReadonlyMap<string, Sizes>;
  /** Segments that the full-text search finds, read or not. */
  matchCount: number;
  /** Whether a segment that wasn't found may be relevant: without a phrase it may. */
  mayBeUnfound: boolean;
  hasText: boolean;
}

/** The groups that are returned, in order; the next two are the others, and all. */
interface GroupedInput {
  keys: GroupKey[];
  input: CountInput;
}

/** Share of the segments with words that stand for those which weren't read: the lowest. */
const STAND_IN_SHARE = 0.1;

/** Sorts what a search found into the groups with the largest expected numbers. */
export function toCountInput(
  scored: readonly CountedHit[],
  scope: CountedScope,
  model: CountModel,
): GroupedInput {
  const { unit, top, list } = scope;
  const multiplicities = standIns(scored, scope.matchCount);
  const ranked = rankKeys(scored, multiplicities, unit, model);
  const keys = ranked.slice(0, top);
  const [other, all] = [keys.length, keys.length + 1];
  const numbers = new Map(ranked.map((id, at) => [id, at < other ? at : at + 2]));
  const taken = new Map<number, Sizes>();
  const take = (groups: readonly number[], sizes: Sizes) => {
    for (const group of groups) taken.set(group, addSizes(taken.get(group) ?? NO_SIZES, sizes));
  };
  const byAsset = Map.groupBy(scored.keys(), (at) => scored[at]!.assetId);
  const found = [...byAsset].map(([assetId, ats]): CountedAsset => {
    let rest = scope.assets.get(assetId) ?? NO_SIZES;
    const labelled = new Set<number>();
    const segments = ats.map((at) => {
      const { excess, durationMs, keys: ownKeys } = scored[at]!;
      const multiplicity = multiplicities[at]!;
      const groups = ownKeys.map((key) => numbers.get(keyId(key))!);
      rest = subtractSizes(rest, { segments: 1, durationMs, assets: 0 });
      const represented = { segments: multiplicity, durationMs: multiplicity * durationMs };
      take([...groups, all], { ...represented, assets: 0 });
      for (const group of groups) labelled.add(group);
      const weight = unit === "seconds" ? durationMs / 1000 : 1;
      return { excess, multiplicity, weight, groups: [...groups, all] };
    });
    take([...labelled, all], { ...NO_SIZES, assets: 1 });
    const groups = scope.isByAsset ? segments[0]!.groups : [all];
    take(groups, { ...rest, assets: 0 });
    const { segments: count, durationMs } = scope.mayBeUnfound ? rest : NO_SIZES;
    return { segments, unfound: { count, weight: meanWeight(unit, count, durationMs), groups } };
  });
  const sizes = new Map(list.groups.map((group) => [keyId(group.key), group]));
  const shown = keys.map((id) => sizes.get(id) ?? NO_SIZES);
  const others = subtractSizes(list.sum, shown.reduce(addSizes, NO_SIZES));
  const takenOfOthers = [...taken].filter(([group]) => group > all).map(([, one]) => one);
  const unfound = [
    ...shown.map((of, group) => subtractSizes(of, taken.get(group) ?? NO_SIZES)),
    subtractSizes(others, takenOfOthers.reduce(addSizes, NO_SIZES)),
    subtractSizes(list.total, taken.get(all) ?? NO_SIZES),
  ].map((rest) => toUnfound(unit, scope.mayBeUnfound ? rest : NO_SIZES));
  const mass = scored.reduce((sum, { excess }, at) => sum + excess * multiplicities[at]!, 0);
  const input = {
    countsAssets: unit === "assets",
    mass,
    total: list.total.segments,
    hasText: scope.hasText,
    found,
    unfound,
    other,
  };
  return { keys: keys.map((id) => JSON.parse(id) as GroupKey), input };
}

/** Returns for each segment how many it stands for: one that wasn't read is like the lowest. */
function standIns(scored: readonly CountedHit[], matchCount: number): number[] {
  const withWords = [...scored.keys()].filter((at) => scored[at]!.hasWords);
  const missing = Math.max(0, matchCount - withWords.length);
  const lowest = withWords
    .toSorted((a, b) => scored[a]!.excess - scored[b]!.excess || a - b)
    .slice(0, Math.ceil(STAND_IN_SHARE * withWords.length));
  const multiplicities = scored.map(() => 1);
  for (const [i, at] of lowest.entries()) {
    const share = Math.floor(missing / lowest.length);
    multiplicities[at] = 1 + share + Number(i < missing % lowest.length);
  }
  return multiplicities;
}

/** Lists the keys of found segments as JSON, those with the largest expected numbers first. */
function rankKeys(
  scored: readonly CountedHit[],
  multiplicities: readonly number[],
  unit: CountUnit,
  { hit }: CountModel,
): string[] {
  const expected = new Map<string, number>();
  for (const [at, { excess, durationMs, keys }] of scored.entries()) {
    const probability = toProbability(hit.offset + hit.slope * toLogOdds(excess));
    const weight = unit === "seconds" ? durationMs / 1000 : 1;
    for (const key of keys) {
      const id = keyId(key);
      const value = probability * weight * multiplicities[at]!;
      expected.set(id, value + (expected.get(id) ?? 0));
    }
  }
  return [...expected]
    .toSorted(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
    .map(([id]) => id);
}

/** Converts the sizes of what wasn't found to items of a unit. */
function toUnfound(unit: CountUnit, { segments, durationMs, assets }: Sizes): Unfound {
  if (unit !== "assets") {
    return { count: segments, weight: meanWeight(unit, segments, durationMs), segments: 1 };
  }
  return { count: assets, weight: 1, segments: assets > 0 ? segments / assets : 0 };
}

/** Returns what a segment adds to a count, on average. */
function meanWeight(unit: CountUnit, segments: number, durationMs: number): number {
  return unit === "seconds" && segments > 0 ? durationMs / 1000 / segments : 1;
}

function subtractSizes(from: Sizes, sizes: Sizes): Sizes {
  return {
    segments: Math.max(0, from.segments - sizes.segments),
    durationMs: Math.max(0, from.durationMs - sizes.durationMs),
    assets: Math.max(0, from.assets - sizes.assets),
  };
}
