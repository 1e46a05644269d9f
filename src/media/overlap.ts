import { SIGNATURE } from "../config.ts";
import type { Area } from "./grey-picture.ts";

/** Samples each way of a first look, and of a close one. */
const COARSE = 10;
const FINE = 16;

/** A picture as it may lie in another, as it is or mirrored: unit vectors of samples. */
export interface View {
  coarse: Float64Array;
  fine: Float64Array;
}

const SIDE = SIGNATURE.thumbnailSide;
const WHOLE: Area = [0, 0, 1, 1];
const MIN_SHARE = 0.6;
const MAX_BEYOND = 0.02;
const CLOSE_LOOKS = 2;
/** A first look that fits less isn't followed by a close one: no picture got from here to the same. */
const LEAST_FIT = 0.6;
const STEPS = [0.04, 0.02, 0.01];
const MOVES_PER_STEP = 3;

/** Where a view may lie: all of a thumbnail, or 0.7 to 0.9 of each side of it. */
const PLACES: readonly Area[] = [1, 0.9, 0.8, 0.7].flatMap((share) => {
  const steps = Math.round((1 - share) / 0.075);
  return Array.from({ length: (steps + 1) ** 2 }, (_, i): Area => {
    const slack = steps === 0 ? 0 : (1 - share) / steps;
    return [(i % (steps + 1)) * slack, Math.floor(i / (steps + 1)) * slack, share, share];
  });
});

/** A picture as it is and mirrored, from its thumbnail (`bestOverlap` says of what form). */
export function viewsOf(thumbnail: Uint8Array): View[] {
  const mirrored = thumbnail.map((_, i) => thumbnail[i - 2 * (i % SIDE) + SIDE - 1]!);
  return [thumbnail, mirrored].map((one) => ({
    coarse: sample(one, WHOLE, COARSE),
    fine: sample(one, WHOLE, FINE),
  }));
}

/**
 * How well one of the views fits a part of a thumbnail (grey, `SIGNATURE.thumbnailSide` each way, rows
 * from the top), between 0 and 1: the best zero-mean normalised cross-correlation over places,
 * looked for in a grid, then uphill in ever smaller steps. 0 where either is flat.
 */
export function bestOverlap(views: readonly View[], thumbnail: Uint8Array): number {
  const looks = PLACES.flatMap((place) => {
    const part = sample(thumbnail, place, COARSE);
    return views.map((view) => ({ place, view, fit: dot(view.coarse, part) }));
  });
  looks.sort((a, b) => b.fit - a.fit);
  const fits = looks
    .slice(0, CLOSE_LOOKS)
    .map(({ place, view, fit }) => (fit < LEAST_FIT ? fit : climb(view, thumbnail, place)));
  return Math.min(1, Math.max(0, ...fits));
}

/** Changes values to a unit vector without mean; a flat one to zeros. */
function normalize(values: Float64Array): Float64Array {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  for (let i = 0; i < values.length; i++) values[i]! -= mean;
  const length = Math.sqrt(dot(values, values));
  for (let i = 0; i < values.length; i++) values[i] = length < 1 ? 0 : values[i]! / length;
  return values;
}

function climb(view: View, thumbnail: Uint8Array, start: Area): number {
  const fitAt = (place: Area) => dot(view.fine, sample(thumbnail, place, FINE));
  let place = start;
  let fit = fitAt(place);
  for (const step of STEPS) {
    for (let moves = 0; moves < MOVES_PER_STEP; moves++) {
      const before = fit;
      for (const next of neighbours(place, step)) {
        const there = fitAt(next);
        if (there > fit) [place, fit] = [next, there];
      }
      if (fit === before) break;
    }
  }
  return fit;
}

/** A little to each side, and a little wider, narrower, higher and lower around the same middle. */
function neighbours([left, top, width, height]: Area, step: number): Area[] {
  const places: Area[] = [step, -step].flatMap((by): Area[] => [
    [left + by, top, width, height],
    [left, top + by, width, height],
    [left - by / 2, top, width + by, height],
    [left, top - by / 2, width, height + by],
  ]);
  return places.filter(
    ([left, top, width, height]) =>
      Math.min(width, height) >= MIN_SHARE &&
      Math.min(left, top) >= -MAX_BEYOND &&
      Math.max(left + width, top + height) <= 1 + MAX_BEYOND,
  );
}

/** `samples` each way of a part of a thumbnail, interpolated, as a unit vector. */
function sample(thumbnail: Uint8Array, [left, top, width, height]: Area, samples: number) {
  const values = new Float64Array(samples * samples);
  for (let row = 0; row < samples; row++) {
    const y = inside((top + (height * (row + 0.5)) / samples) * SIDE - 0.5);
    const line = Math.floor(y);
    for (let column = 0; column < samples; column++) {
      const x = inside((left + (width * (column + 0.5)) / samples) * SIDE - 0.5);
      const at = line * SIDE + Math.floor(x);
      const right = x % 1;
      const above = thumbnail[at]! * (1 - right) + thumbnail[at + 1]! * right;
      const below = thumbnail[at + SIDE]! * (1 - right) + thumbnail[at + SIDE + 1]! * right;
      values[row * samples + column] = above * (1 - (y % 1)) + below * (y % 1);
    }
  }
  return normalize(values);
}

/** Where there is a pixel to the right and below. */
function inside(position: number): number {
  return Math.min(SIDE - 1.001, Math.max(0, position));
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
