import type { Area } from "./grey-picture.ts";

/** Samples each way of a first look, and of a close one. */
const COARSE = 10;
const FINE = 16;

/** A picture as it may lie in another, as it is or mirrored: unit vectors of samples. */
export interface View {
  coarse: Float64Array;
  fine: Float64Array;
}

/** Where pictures are the same, uncut. */
export const WHOLE: Area = [0, 0, 1, 1];
const MIN_SHARE = 0.6;
const MAX_BEYOND = 0.02;
const CLOSE_LOOKS = 2;
/** A first look that fits less isn't followed by a close one: no picture got from here to the same. */
const LEAST_FIT = 0.6;
const STEPS = [0.04, 0.02, 0.01];
const MOVES_PER_STEP = 3;

/** Where a view may lie: all of a thumbnail, or 0.7 to 0.9 of each side of it, or between the usual bars. */
const PLACES: readonly Area[] = [1, 0.9, 0.8, 0.7]
  .flatMap((share) => {
    const steps = Math.round((1 - share) / 0.075);
    return Array.from({ length: (steps + 1) ** 2 }, (_, i): Area => {
      const slack = steps === 0 ? 0 : (1 - share) / steps;
      return [(i % (steps + 1)) * slack, Math.floor(i / (steps + 1)) * slack, share, share];
    });
  })
  .concat([
    [0, 0.125, 1, 0.75],
    [0.125, 0, 0.75, 1],
  ]);

/** Where a picture lies in another. */
export interface Place {
  area: Area;
  isMirrored: boolean;
  /** Between 0 and 1: the zero-mean normalised cross-correlation there, 0 where either is flat. */
  fit: number;
}

/** A picture as it is and mirrored, from its thumbnail (`bestPlace` says of what form). */
export function viewsOf(thumbnail: Uint8Array): [plain: View, mirrored: View] {
  const view = (one: Uint8Array) => ({
    coarse: sampleArea(one, WHOLE, COARSE),
    fine: sampleArea(one, WHOLE, FINE),
  });
  return [view(thumbnail), view(mirror(thumbnail))];
}

/** How well one of the views fits a part of a thumbnail at best: `fit` of `bestPlace`. */
export function bestOverlap(views: readonly [View, View], thumbnail: Uint8Array): number {
  return bestPlace(views, thumbnail).fit;
}

/**
 * Where one of the views fits a thumbnail (grey, as high as wide, rows from the top) best: looked for in
 * a grid of places, then uphill in ever smaller steps.
 */
export function bestPlace(views: readonly [View, View], thumbnail: Uint8Array): Place {
  const looks = PLACES.flatMap((area) => {
    const part = sampleArea(thumbnail, area, COARSE);
    return views.map((view, i) => {
      return { view, place: { area, isMirrored: i === 1, fit: dot(view.coarse, part) } };
    });
  });
  looks.sort((a, b) => b.place.fit - a.place.fit);
  const places = looks
    .slice(0, CLOSE_LOOKS)
    .map(({ view, place }) => (place.fit < LEAST_FIT ? place : climb(view, thumbnail, place)));
  const best = places.reduce((a, b) => (b.fit > a.fit ? b : a));
  return { ...best, fit: Math.min(1, Math.max(0, best.fit)) };
}

/** The mirror image of a picture as high as wide. */
export function mirror(picture: Uint8Array): Uint8Array {
  const side = Math.sqrt(picture.length);
  return picture.map((_, i) => picture[i - 2 * (i % side) + side - 1]!);
}

/** Changes values to a unit vector without mean; a flat one to zeros. */
function normalize(values: Float64Array): Float64Array {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  for (let i = 0; i < values.length; i++) values[i]! -= mean;
  const length = Math.sqrt(dot(values, values));
  for (let i = 0; i < values.length; i++) values[i] = length < 1 ? 0 : values[i]! / length;
  return values;
}

function climb(view: View, thumbnail: Uint8Array, { area, isMirrored }: Place): Place {
  const fitAt = (place: Area) => dot(view.fine, sampleArea(thumbnail, place, FINE));
  let place = area;
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
  return { area: place, isMirrored, fit };
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

/** `samples` each way of a part of a thumbnail, interpolated, as a unit vector; zeros where it is flat. */
export function sampleArea(
  thumbnail: Uint8Array,
  [left, top, width, height]: Area,
  samples: number,
): Float64Array {
  const side = Math.sqrt(thumbnail.length);
  /** Where there is a pixel to the right and below. */
  const inside = (position: number) => Math.min(side - 1.001, Math.max(0, position));
  const values = new Float64Array(samples * samples);
  for (let row = 0; row < samples; row++) {
    const y = inside((top + (height * (row + 0.5)) / samples) * side - 0.5);
    const line = Math.floor(y);
    for (let column = 0; column < samples; column++) {
      const x = inside((left + (width * (column + 0.5)) / samples) * side - 0.5);
      const at = line * side + Math.floor(x);
      const right = x % 1;
      const above = thumbnail[at]! * (1 - right) + thumbnail[at + 1]! * right;
      const below = thumbnail[at + side]! * (1 - right) + thumbnail[at + side + 1]! * right;
      values[row * samples + column] = above * (1 - (y % 1)) + below * (y % 1);
    }
  }
  return normalize(values);
}

/** Of two unit vectors, their cosine. */
export function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
