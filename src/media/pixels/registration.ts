import type { RectTuple } from "./integral-image.ts";

const COARSE = 10;
const FINE = 16;

/** Samples of an image, or of its mirror image, as unit vectors. */
export interface ImageViews {
  coarse: Float64Array;
  fine: Float64Array;
}

export const WHOLE: RectTuple = [0, 0, 1, 1];
/**
 * Smallest side of a placement, and how far one may exceed the thumbnail: fractions of its side.
 */
const MIN_SHARE = 0.6;
const MAX_BEYOND = 0.02;
const REFINED_COUNT = 2;
/** Coarse correlation below which a placement isn't refined: none below it has reached a match. */
const MIN_COARSE_CORRELATION = 0.6;
const STEPS = [0.04, 0.02, 0.01];
const MOVES_PER_STEP = 3;

/**
 * Coarse placements of a view in a thumbnail: all of it, 0.7 to 0.9 of each side, or between the
 * usual black bars.
 */
const PLACEMENTS: readonly RectTuple[] = [1, 0.9, 0.8, 0.7]
  .flatMap((share) => {
    const steps = Math.round((1 - share) / 0.075);
    return Array.from({ length: (steps + 1) ** 2 }, (_, i): RectTuple => {
      const step = steps === 0 ? 0 : (1 - share) / steps;
      return [(i % (steps + 1)) * step, Math.floor(i / (steps + 1)) * step, share, share];
    });
  })
  .concat([
    [0, 0.125, 1, 0.75],
    [0.125, 0, 0.75, 1],
  ]);

/** Placement of one image in another. */
export interface Registration {
  area: RectTuple;
  isMirrored: boolean;
  /** Zero-mean normalised cross-correlation in this area, 0 to 1. 0 if either image is flat. */
  correlation: number;
}

/** Samples an image as it is and mirrored. The thumbnail is square luma, rows from the top. */
export function toImageViews(thumbnail: Uint8Array): [plain: ImageViews, mirrored: ImageViews] {
  const toViews = (image: Uint8Array) => ({
    coarse: sampleArea(image, WHOLE, COARSE),
    fine: sampleArea(image, WHOLE, FINE),
  });
  return [toViews(thumbnail), toViews(mirror(thumbnail))];
}

/**
 * Finds where one of the views correlates best with a thumbnail (square luma, rows from the top):
 * by a grid of placements, then by hill climbing from the best ones in ever smaller steps.
 */
export function registerImage(
  views: readonly [ImageViews, ImageViews],
  thumbnail: Uint8Array,
): Registration {
  const coarse = PLACEMENTS.flatMap((area) => {
    const samples = sampleArea(thumbnail, area, COARSE);
    return views.map((view, i) => {
      const correlation = dot(view.coarse, samples);
      return { view, registration: { area, isMirrored: i === 1, correlation } };
    });
  });
  coarse.sort((a, b) => b.registration.correlation - a.registration.correlation);
  const refined = coarse
    .slice(0, REFINED_COUNT)
    .map(({ view, registration }) =>
      registration.correlation < MIN_COARSE_CORRELATION
        ? registration
        : refine(view, thumbnail, registration),
    );
  const best = refined.reduce((a, b) => (b.correlation > a.correlation ? b : a));
  return { ...best, correlation: Math.min(1, Math.max(0, best.correlation)) };
}

export function mirror(image: Uint8Array): Uint8Array {
  const side = Math.sqrt(image.length);
  return image.map((_, i) => image[i - 2 * (i % side) + side - 1]!);
}

/** Changes values in place to a unit vector of mean 0, or to zeros if they are flat. */
function normalize(values: Float64Array): Float64Array {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  for (let i = 0; i < values.length; i++) values[i]! -= mean;
  const length = Math.sqrt(dot(values, values));
  for (let i = 0; i < values.length; i++) values[i] = length < 1 ? 0 : values[i]! / length;
  return values;
}

function refine(
  view: ImageViews,
  thumbnail: Uint8Array,
  { area: start, isMirrored }: Registration,
): Registration {
  const correlationIn = (area: RectTuple) => dot(view.fine, sampleArea(thumbnail, area, FINE));
  let area = start;
  let correlation = correlationIn(area);
  for (const step of STEPS) {
    for (let moves = 0; moves < MOVES_PER_STEP; moves++) {
      const before = correlation;
      for (const neighbour of neighbours(area, step)) {
        const candidate = correlationIn(neighbour);
        if (candidate > correlation) [area, correlation] = [neighbour, candidate];
      }
      if (correlation === before) break;
    }
  }
  return { area, isMirrored, correlation };
}

/** Moves a rectangle by a step each way, and resizes it around its middle. */
function neighbours([left, top, width, height]: RectTuple, step: number): RectTuple[] {
  const rects: RectTuple[] = [step, -step].flatMap((by): RectTuple[] => [
    [left + by, top, width, height],
    [left, top + by, width, height],
    [left - by / 2, top, width + by, height],
    [left, top - by / 2, width, height + by],
  ]);
  return rects.filter(
    ([left, top, width, height]) =>
      Math.min(width, height) >= MIN_SHARE &&
      Math.min(left, top) >= -MAX_BEYOND &&
      Math.max(left + width, top + height) <= 1 + MAX_BEYOND,
  );
}

/**
 * Samples an area of a thumbnail at `samples` points each way, interpolated. Returns a unit vector
 * of mean 0, or zeros if the area is flat.
 */
export function sampleArea(
  thumbnail: Uint8Array,
  [left, top, width, height]: RectTuple,
  samples: number,
): Float64Array {
  const side = Math.sqrt(thumbnail.length);
  /** Clamps a position so that pixels to the right and below exist. */
  const clamp = (position: number) => Math.min(side - 1.001, Math.max(0, position));
  const values = new Float64Array(samples * samples);
  for (let row = 0; row < samples; row++) {
    const y = clamp((top + (height * (row + 0.5)) / samples) * side - 0.5);
    const line = Math.floor(y);
    for (let column = 0; column < samples; column++) {
      const x = clamp((left + (width * (column + 0.5)) / samples) * side - 0.5);
      const at = line * side + Math.floor(x);
      const right = x % 1;
      const above = thumbnail[at]! * (1 - right) + thumbnail[at + 1]! * right;
      const below = thumbnail[at + side]! * (1 - right) + thumbnail[at + side + 1]! * right;
      values[row * samples + column] = above * (1 - (y % 1)) + below * (y % 1);
    }
  }
  return normalize(values);
}

/** Dot product: the cosine of two unit vectors. */
export function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
