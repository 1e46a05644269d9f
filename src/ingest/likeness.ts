import { FOOTAGE, SHOTS } from "../config.ts";
import { detailOf } from "../media/details.ts";
import { dot, sampleArea, WHOLE } from "../media/overlap.ts";
import type { SmallStill } from "../types.ts";
import { type Cut, lengthOf } from "./cut.ts";
import { levelsOf, type SeenStills } from "./seen-stills.ts";

/** Of a shot, evenly, that are compared with those of another. */
const COMPARED = 8;

/**
 * Joins neighbouring shots that look the same, as after a jump in time, or where a shot between two of
 * the same framing was too short to stay, as far as they get no longer than `SHOTS.mostSeconds`. Only where
 * small stills are alike are large ones looked at, which tell one page of words from another.
 */
export async function joinAlike(shots: readonly Cut[], seen: SeenStills): Promise<Cut[]> {
  const joined: Cut[] = [];
  for (const shot of shots) {
    const last = joined.at(-1);
    const both = last && { startMs: last.startMs, endMs: shot.endMs };
    const isOne =
      both && lengthOf(both) <= SHOTS.mostSeconds * 1000 && (await areAlike(last, shot, seen));
    if (isOne) joined[joined.length - 1] = both;
    else joined.push(shot);
  }
  return joined;
}

async function areAlike(a: Cut, b: Cut, seen: SeenStills): Promise<boolean> {
  const [ours, theirs] = [some(seen.within(a)), some(seen.within(b))];
  if (likeness(ours.map(lookOf), theirs.map(lookOf)) < SHOTS.alike) return false;
  const [own, other] = [await seen.greysOf(ours), await seen.greysOf(theirs)];
  return likeness(own.map(detailOf), other.map(detailOf)) >= SHOTS.alikeInDetail;
}

/**
 * How much two groups of vectors of unit length are like each other: most of either correlate so well with
 * one of the other. 0 where either is empty.
 */
function likeness(a: readonly Float64Array[], b: readonly Float64Array[]): number {
  if (a.length === 0 || b.length === 0) return 0;
  return Math.min(typicalFit(a, b), typicalFit(b, a));
}

/** The median of how well each fits the one that it fits best. */
function typicalFit(looks: readonly Float64Array[], others: readonly Float64Array[]): number {
  const fits = looks.map((look) => Math.max(...others.map((other) => dot(look, other))));
  return fits.sort((a, b) => a - b)[Math.floor((fits.length - 1) / 2)]!;
}

function lookOf({ thumbnail }: SmallStill): Float64Array {
  return sampleArea(levelsOf(thumbnail), WHOLE, FOOTAGE.thumbnailSide);
}

function some(stills: readonly SmallStill[]): SmallStill[] {
  const count = Math.min(COMPARED, stills.length);
  return Array.from(
    { length: count },
    (_, i) => stills[Math.floor(((i + 0.5) * stills.length) / count)]!,
  );
}
