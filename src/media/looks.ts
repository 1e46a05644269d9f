/** What a moment of a video looks like, small enough to be compared with many others. */
export interface Look {
  /** When the picture begins to be shown. */
  seconds: number;
  /** `LOOK_SIDE`² grey levels of 0 to 255, rows from the top. */
  cells: Float32Array;
}

const LOOK_SIDE = 24;
const BLOCK = 4;
/** How far parts of a picture may move from one to the next, in cells. */
const REACH = 3;
/** Keeps pictures without contrast from correlating by their noise: levels². */
const NOISE = 1;

/** Of square grey pixels, rows from the top, whose side is a multiple of `LOOK_SIDE`. */
export function lookOf({ seconds, grey }: { seconds: number; grey: Uint8Array }): Look {
  const side = Math.sqrt(grey.length);
  const share = side / LOOK_SIDE;
  const cells = new Float32Array(LOOK_SIDE ** 2);
  for (let cell = 0; cell < cells.length; cell++) {
    const left = (cell % LOOK_SIDE) * share;
    const top = Math.floor(cell / LOOK_SIDE) * share;
    let sum = 0;
    for (let row = top * side; row < (top + share) * side; row += side) {
      for (let at = row + left; at < row + left + share; at++) sum += grey[at]!;
    }
    cells[cell] = sum / share ** 2;
  }
  return { seconds, cells };
}

/** How far apart two pictures are: the root of the mean square of the differences, in levels. */
export function distance(a: Look, b: Look): number {
  let sum = 0;
  for (let i = 0; i < a.cells.length; i++) sum += (a.cells[i]! - b.cells[i]!) ** 2;
  return Math.sqrt(sum / a.cells.length);
}

/** Between -1 and 1: whether two pictures have light and dark in the same places. */
export function correlation(a: Look, b: Look): number {
  return covariance(a, b) / Math.sqrt((covariance(a, a) + NOISE) * (covariance(b, b) + NOISE));
}

/** Of the levels of two pictures, in levels²: of a picture with itself, its contrast. */
export function covariance(a: Look, b: Look): number {
  const [meanA, meanB] = [lightOf(a), lightOf(b)];
  let sum = 0;
  for (let i = 0; i < a.cells.length; i++) sum += (a.cells[i]! - meanA) * (b.cells[i]! - meanB);
  return sum / a.cells.length;
}

/**
 * How much of a picture isn't in another one near where it was: each block is laid where it fits best
 * (block matching, as in Koprinska and Carrato, "Temporal video segmentation: a survey", 2001), so that
 * what a camera or a thing moves hardly counts. The mean absolute difference, in levels.
 */
export function novelty(a: Look, b: Look): number {
  let sum = 0;
  for (let top = 0; top < LOOK_SIDE; top += BLOCK) {
    for (let left = 0; left < LOOK_SIDE; left += BLOCK) sum += bestFit(a.cells, b.cells, left, top);
  }
  return sum / LOOK_SIDE ** 2;
}

/** Whether there is nothing to see: black, white, or nearly. */
export function isBlank(look: Look): boolean {
  const light = lightOf(look);
  const isFlat = covariance(look, look) < BLANK.contrast;
  return isFlat && (light < BLANK.black || light > BLANK.white);
}

const BLANK = { contrast: 25, black: 24, white: 235 };

/** The mean of the grey levels. */
export function lightOf({ cells }: Look): number {
  let sum = 0;
  for (let i = 0; i < cells.length; i++) sum += cells[i]!;
  return sum / cells.length;
}

function bestFit(from: Float32Array, to: Float32Array, left: number, top: number): number {
  const last = LOOK_SIDE - BLOCK;
  const at = top * LOOK_SIDE + left;
  let best = misfit(from, to, at, at, Infinity); // most often the least
  for (let y = Math.max(0, top - REACH); y <= Math.min(last, top + REACH); y++) {
    for (let x = Math.max(0, left - REACH); x <= Math.min(last, left + REACH); x++) {
      best = Math.min(best, misfit(from, to, at, y * LOOK_SIDE + x, best));
    }
  }
  return best;
}

/** The sum of the differences between two blocks, or what is more than `enough` of it. */
function misfit(
  from: Float32Array,
  to: Float32Array,
  at: number,
  there: number,
  enough: number,
): number {
  let sum = 0;
  for (let row = 0; row < BLOCK && sum < enough; row++) {
    const [a, b] = [at + row * LOOK_SIDE, there + row * LOOK_SIDE];
    for (let i = 0; i < BLOCK; i++) sum += Math.abs(from[a + i]! - to[b + i]!);
  }
  return sum;
}
