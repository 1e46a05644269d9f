import type { SampledFrame } from "./contact-sheet.ts";

/** A frame reduced to a grid of luma values, small enough to be compared with many others. */
export interface FrameDescriptor {
  seconds: number;
  /** `GRID_SIDE`² mean luma values of 0 to 255, rows from the top. */
  cells: Float32Array;
}

const GRID_SIDE = 24;
/** Side of a block in block matching, in cells. */
const BLOCK_SIDE = 4;
/** Largest displacement of a block from one frame to the next, in cells each way. */
const SEARCH_RADIUS = 3;
/** Keeps frames without contrast from correlating by their noise, in luma levels². */
const NOISE_VARIANCE = 1;
/**
 * Largest variance (levels²) of a monochrome frame, and where its mean luma counts as black or
 * white.
 */
const MONOCHROME = { maxVariance: 25, black: 24, white: 235 };

/**
 * Averages square luma, rows from the top, whose side is a multiple of `GRID_SIDE`, into a grid.
 */
export function toFrameDescriptor({ seconds, luma }: SampledFrame): FrameDescriptor {
  const side = Math.sqrt(luma.length);
  const cellSide = side / GRID_SIDE;
  const cells = new Float32Array(GRID_SIDE ** 2);
  for (let cell = 0; cell < cells.length; cell++) {
    const left = (cell % GRID_SIDE) * cellSide;
    const top = Math.floor(cell / GRID_SIDE) * cellSide;
    let sum = 0;
    for (let row = top * side; row < (top + cellSide) * side; row += side) {
      for (let i = row + left; i < row + left + cellSide; i++) sum += luma[i]!;
    }
    cells[cell] = sum / cellSide ** 2;
  }
  return { seconds, cells };
}

export function rmsDistance(a: FrameDescriptor, b: FrameDescriptor): number {
  let sum = 0;
  for (let i = 0; i < a.cells.length; i++) sum += (a.cells[i]! - b.cells[i]!) ** 2;
  return Math.sqrt(sum / a.cells.length);
}

/** Correlation of two frames, −1 to 1: high where both are light and dark in the same places. */
export function correlation(a: FrameDescriptor, b: FrameDescriptor): number {
  const variances = (covariance(a, a) + NOISE_VARIANCE) * (covariance(b, b) + NOISE_VARIANCE);
  return covariance(a, b) / Math.sqrt(variances);
}

/**
 * Covariance of the luma of two frames, in levels². A frame with itself: the variance, its
 * contrast.
 */
export function covariance(a: FrameDescriptor, b: FrameDescriptor): number {
  const [meanA, meanB] = [meanLuma(a), meanLuma(b)];
  let sum = 0;
  for (let i = 0; i < a.cells.length; i++) sum += (a.cells[i]! - meanA) * (b.cells[i]! - meanB);
  return sum / a.cells.length;
}

/**
 * Mean absolute luma difference of two frames after block matching, in levels: each block is
 * compared with the most similar one near its position, so that motion of the camera or of objects
 * counts for little. Source: Koprinska and Carrato, "Temporal video segmentation: a survey", 2001.
 */
export function displacedFrameDifference(a: FrameDescriptor, b: FrameDescriptor): number {
  let sum = 0;
  for (let top = 0; top < GRID_SIDE; top += BLOCK_SIDE) {
    for (let left = 0; left < GRID_SIDE; left += BLOCK_SIDE)
      sum += minBlockDifference(a.cells, b.cells, left, top);
  }
  return sum / GRID_SIDE ** 2;
}

export function isMonochrome(frame: FrameDescriptor): boolean {
  const mean = meanLuma(frame);
  const isFlat = covariance(frame, frame) < MONOCHROME.maxVariance;
  return isFlat && (mean < MONOCHROME.black || mean > MONOCHROME.white);
}

export function meanLuma({ cells }: FrameDescriptor): number {
  let sum = 0;
  for (let i = 0; i < cells.length; i++) sum += cells[i]!;
  return sum / cells.length;
}

function minBlockDifference(from: Float32Array, to: Float32Array, left: number, top: number) {
  const last = GRID_SIDE - BLOCK_SIDE;
  const at = top * GRID_SIDE + left;
  let min = blockDifference(from, to, at, at, Infinity); // without motion: mostly the smallest
  for (let y = Math.max(0, top - SEARCH_RADIUS); y <= Math.min(last, top + SEARCH_RADIUS); y++) {
    for (
      let x = Math.max(0, left - SEARCH_RADIUS);
      x <= Math.min(last, left + SEARCH_RADIUS);
      x++
    ) {
      min = Math.min(min, blockDifference(from, to, at, y * GRID_SIDE + x, min));
    }
  }
  return min;
}

/**
 * Sum of the absolute differences of two blocks. Stops after the row in which it reaches `bound`.
 */
function blockDifference(
  from: Float32Array,
  to: Float32Array,
  fromCorner: number,
  toCorner: number,
  bound: number,
): number {
  let sum = 0;
  for (let row = 0; row < BLOCK_SIDE && sum < bound; row++) {
    const [a, b] = [fromCorner + row * GRID_SIDE, toCorner + row * GRID_SIDE];
    for (let i = 0; i < BLOCK_SIDE; i++) sum += Math.abs(from[a + i]! - to[b + i]!);
  }
  return sum;
}
