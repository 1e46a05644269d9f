import { SIGNATURE } from "../../parameters.ts";

/** Cells each way of an area, whose means are the input of `toFrequencies`. */
export const HASH_CELLS = 16;

/** DCT coefficients each way. */
const FREQUENCIES = 8;
/** Hashes of one area. Each takes its own share of the coefficients. */
const HASH_COUNT = 2;
const BITS = SIGNATURE.hashBits;
/** Number of possible hashes: all are below it. */
export const HASH_RANGE = HASH_COUNT * 2 ** BITS;
/** Standard deviation of the means below which an area is flat. */
const MIN_DEVIATION = 1;

const COSINES = Float64Array.from({ length: FREQUENCIES * HASH_CELLS }, (_, i) => {
  const [frequency, cell] = [Math.floor(i / HASH_CELLS), i % HASH_CELLS];
  return Math.cos(((2 * cell + 1) * frequency * Math.PI) / (2 * HASH_CELLS));
});

/**
 * Coefficients of each hash, by their index `down * 8 + across`: the lowest frequencies without the
 * mean, dealt to the hashes in turn.
 */
const COEFFICIENTS: readonly (readonly number[])[] = (() => {
  const sum = (index: number) => Math.floor(index / FREQUENCIES) + (index % FREQUENCIES);
  const product = (index: number) => Math.floor(index / FREQUENCIES) * (index % FREQUENCIES);
  const order = Array.from({ length: FREQUENCIES ** 2 - 1 }, (_, i) => i + 1).toSorted(
    (a, b) => sum(a) - sum(b) || product(a) - product(b) || a - b,
  );
  return Array.from({ length: HASH_COUNT }, (_, hash) =>
    Array.from({ length: BITS }, (_, bit) => order[bit * HASH_COUNT + hash]!),
  );
})();

/**
 * Transforms the means (0–255) of an area's `HASH_CELLS`² cells into the lowest frequencies of the
 * discrete cosine transform (type II, not normalised: only the signs count). Null for a flat area.
 */
export function toFrequencies(means: Float64Array): Float64Array | null {
  return standardDeviation(means) < MIN_DEVIATION ? null : transform(means);
}

/**
 * Returns the perceptual hashes of an area, integers below `HASH_RANGE`: the signs of its
 * frequencies (Zauner, "Implementation and Benchmarking of Perceptual Image Hash Functions", 2010),
 * in parts that are looked up separately (multi-index hashing: Norouzi, Punjani and Fleet, "Fast
 * Search in Hamming Space with Multi-Index Hashing", 2012). Adds every combination of the
 * `flippedBits` least certain bits flipped (multi-probe hashing: Lv, Josephson, Wang, Charikar and
 * Li, 2007). `isMirrored` gives the hashes of the mirror image.
 */
export function areaHashes(
  frequencies: Float64Array,
  isMirrored: boolean,
  flippedBits: number,
): number[] {
  return COEFFICIENTS.flatMap((indices, hashIndex) => {
    const values = indices.map((i) => frequencies[i]! * (isMirrored && i % 2 === 1 ? -1 : 1));
    const hash = values.reduce((bits, value, bit) => bits | (Number(value > 0) << bit), 0);
    let hashes = [hashIndex * 2 ** BITS + hash];
    for (const bit of uncertainBits(values, flippedBits)) {
      hashes = hashes.concat(hashes.map((each) => each ^ (1 << bit)));
    }
    return hashes;
  });
}

/** Returns the bits whose values are nearest to 0. */
function uncertainBits(values: number[], count: number): number[] {
  const magnitudes = values.map((value) => Math.abs(value));
  return Array.from({ length: count }, () => {
    let smallest = 0;
    for (let bit = 1; bit < magnitudes.length; bit++) {
      if (magnitudes[bit]! < magnitudes[smallest]!) smallest = bit;
    }
    magnitudes[smallest] = Infinity;
    return smallest;
  });
}

function standardDeviation(values: Float64Array): number {
  let [sum, squares] = [0, 0];
  for (const value of values) {
    sum += value;
    squares += value * value;
  }
  const mean = sum / values.length;
  return Math.sqrt(Math.max(0, squares / values.length - mean * mean));
}

/** Applies the cosine transform to the rows, then to the columns. */
function transform(means: Float64Array): Float64Array {
  const rows = new Float64Array(HASH_CELLS * FREQUENCIES);
  for (let row = 0; row < HASH_CELLS; row++) {
    for (let across = 0; across < FREQUENCIES; across++) {
      let sum = 0;
      for (let cell = 0; cell < HASH_CELLS; cell++) {
        sum += means[row * HASH_CELLS + cell]! * COSINES[across * HASH_CELLS + cell]!;
      }
      rows[row * FREQUENCIES + across] = sum;
    }
  }
  const result = new Float64Array(FREQUENCIES * FREQUENCIES);
  for (let down = 0; down < FREQUENCIES; down++) {
    for (let across = 0; across < FREQUENCIES; across++) {
      let sum = 0;
      for (let row = 0; row < HASH_CELLS; row++) {
        sum += rows[row * FREQUENCIES + across]! * COSINES[down * HASH_CELLS + row]!;
      }
      result[down * FREQUENCIES + across] = sum;
    }
  }
  return result;
}
