import { SIGNATURE } from "../config.ts";

/** Parts each way of an area whose means `areaKeys` takes. */
export const KEY_CELLS = 16;

const FREQUENCIES = 8;
/** An area has a key of each kind. */
const KEY_KINDS = 2;
const BITS = SIGNATURE.keyBits;
/** All keys are less. */
export const KEY_RANGE = KEY_KINDS * 2 ** BITS;
/** Standard deviation of the means below which an area is flat. */
const LEAST_SPREAD = 1;

const COSINES = Float64Array.from({ length: FREQUENCIES * KEY_CELLS }, (_, i) => {
  const [frequency, cell] = [Math.floor(i / KEY_CELLS), i % KEY_CELLS];
  return Math.cos(((2 * cell + 1) * frequency * Math.PI) / (2 * KEY_CELLS));
});

/** The lowest frequencies but the mean, dealt out to the kinds in turn: `down * 8 + across`. */
const COEFFICIENTS: readonly (readonly number[])[] = (() => {
  const sum = (at: number) => Math.floor(at / FREQUENCIES) + (at % FREQUENCIES);
  const product = (at: number) => Math.floor(at / FREQUENCIES) * (at % FREQUENCIES);
  const order = Array.from({ length: FREQUENCIES ** 2 - 1 }, (_, i) => i + 1).toSorted(
    (a, b) => sum(a) - sum(b) || product(a) - product(b) || a - b,
  );
  return Array.from({ length: KEY_KINDS }, (_, kind) =>
    Array.from({ length: BITS }, (_, bit) => order[bit * KEY_KINDS + kind]!),
  );
})();

/**
 * The lowest frequencies of an area's discrete cosine transform (type II, not normalised: signs are all
 * that counts), from the means of `KEY_CELLS`² parts of it (grey, 0–255). Null where it is flat.
 */
export function frequenciesOf(means: Float64Array): Float64Array | null {
  return spreadOf(means) < LEAST_SPREAD ? null : transform(means);
}

/**
 * Integers below `KEY_RANGE` that say what an area looks like: the signs of its frequencies (perceptual
 * hashing: Zauner, "Implementation and Benchmarking of Perceptual Image Hash Functions", 2010), in
 * pieces that are looked up by themselves (Norouzi, Punjani and Fleet, "Fast Search in Hamming Space
 * with Multi-Index Hashing", 2012). With `guesses`, also those with each choice of so many of the least
 * certain bits turned (multi-probe hashing: Lv, Josephson, Wang, Charikar and Li, 2007). With
 * `isMirrored`, those of the area's mirror image.
 */
export function areaKeys(
  frequencies: Float64Array,
  isMirrored: boolean,
  guesses: number,
): number[] {
  return COEFFICIENTS.flatMap((places, kind) => {
    const values = places.map((at) => frequencies[at]! * (isMirrored && at % 2 === 1 ? -1 : 1));
    const key = values.reduce((bits, value, bit) => bits | (Number(value > 0) << bit), 0);
    const doubtful = leastCertain(values, guesses);
    let keys = [kind * 2 ** BITS + key];
    for (const bit of doubtful) keys = keys.concat(keys.map((one) => one ^ (1 << bit)));
    return keys;
  });
}

/** The bits of the smallest values. */
function leastCertain(values: number[], count: number): number[] {
  const doubts = values.map((value) => Math.abs(value));
  return Array.from({ length: count }, () => {
    let least = 0;
    for (let bit = 1; bit < doubts.length; bit++) if (doubts[bit]! < doubts[least]!) least = bit;
    doubts[least] = Infinity;
    return least;
  });
}

/** Standard deviation. */
function spreadOf(values: Float64Array): number {
  let [sum, squares] = [0, 0];
  for (const value of values) {
    sum += value;
    squares += value * value;
  }
  const mean = sum / values.length;
  return Math.sqrt(Math.max(0, squares / values.length - mean * mean));
}

function transform(means: Float64Array): Float64Array {
  const lines = new Float64Array(KEY_CELLS * FREQUENCIES);
  for (let line = 0; line < KEY_CELLS; line++) {
    for (let across = 0; across < FREQUENCIES; across++) {
      let sum = 0;
      for (let cell = 0; cell < KEY_CELLS; cell++) {
        sum += means[line * KEY_CELLS + cell]! * COSINES[across * KEY_CELLS + cell]!;
      }
      lines[line * FREQUENCIES + across] = sum;
    }
  }
  const result = new Float64Array(FREQUENCIES * FREQUENCIES);
  for (let down = 0; down < FREQUENCIES; down++) {
    for (let across = 0; across < FREQUENCIES; across++) {
      let sum = 0;
      for (let line = 0; line < KEY_CELLS; line++) {
        sum += lines[line * FREQUENCIES + across]! * COSINES[down * KEY_CELLS + line]!;
      }
      result[down * FREQUENCIES + across] = sum;
    }
  }
  return result;
}
