import { maxOf, minOf } from "../../lists.ts";
import { SIGNATURE } from "../../parameters.ts";
import {
  type RectTuple,
  type IntegralImage,
  cellMeans,
  toIntegralImage,
} from "./integral-image.ts";
import { registerImage, toImageViews, WHOLE } from "./registration.ts";

/** The stored features of an image that find its copies, also cropped, mirrored or letterboxed. */
export interface ImageSignature {
  /**
   * Perceptual hashes of some areas. An image that shares one may be a copy. Flat areas have none.
   */
  hashes: number[];
  /** Luma, `SIGNATURE.thumbnailSide` each way. */
  lumaThumbnail: Uint8Array<ArrayBuffer>;
}

export interface SignatureQuery {
  /** Hashes that the original may have, the most probable first. */
  hashes: number[];
  /**
   * Similarity to a `lumaThumbnail`, 0 to 1 (identical). `SIGNATURE.minCopySimilarity` is a copy.
   */
  compare(lumaThumbnail: Uint8Array): number;
}

/**
 * Areas with hashes: the whole image and areas around its middle. Each crop that keeps 0.7 of both
 * sides contains some of them.
 */
const AREAS: readonly RectTuple[] = [
  WHOLE,
  [0.2, 0.2, 0.6, 0.6],
  [0.25, 0.25, 0.5, 0.5],
  [0.15, 0.15, 0.5, 0.5],
  [0.35, 0.15, 0.5, 0.5],
  [0.15, 0.35, 0.5, 0.5],
  [0.35, 0.35, 0.5, 0.5],
  [0.25, 0.3, 0.5, 0.4],
  [0.3, 0.25, 0.4, 0.5],
  [0.3, 0.3, 0.4, 0.4],
];

/** Crops of the original that a query may be, at offsets in steps of about `CROP_STEP`. */
const CROP_STEP = 0.04;
const CROPS: readonly RectTuple[] = [
  [1, 1],
  [0.9, 0.9],
  [0.8, 0.8],
  [0.7, 0.7],
  [0.9, 0.75],
  [0.75, 0.9],
].flatMap(([width, height]) =>
  cropOffsets(width!).flatMap((left) =>
    cropOffsets(height!).map((top): RectTuple => [left, top, width!, height!]),
  ),
);
const FLIPPED_BITS = 3;
/** Fraction of its side by which an area may exceed a crop. */
const TOLERANCE = 0.01;

/**
 * Computes the signature of `SIGNATURE.side`² luma, stretched to a square. Crops, mirror images and
 * flipped bits are tried on the query's side, so that the stored signature stays small.
 */
export function computeSignature(luma: Uint8Array): ImageSignature {
  const image = toIntegralImage(luma);
  const frequencies = createFrequencyReader(image);
  const hashes = AREAS.flatMap((area, i) => hashesOfArea(frequencies(area), i, false, 0));
  return { hashes, lumaThumbnail: toThumbnail(image) };
}

/**
 * Computes the query that finds the stored original of an image (luma as for `computeSignature`):
 * an identical image, or one that the image is a crop of (at least 0.7 of each side), mirrored or
 * not, with or without black bars.
 */
export function computeQuerySignature(luma: Uint8Array): SignatureQuery {
  const image = toIntegralImage(luma);
  const frequencies = createFrequencyReader(image);
  const views = toImageViews(toThumbnail(image));
  return {
    hashes: [...new Set(CROPS.flatMap((crop) => hashesForCrop(frequencies, crop)))],
    compare: (lumaThumbnail) => round(registerImage(views, lumaThumbnail).correlation),
  };
}

type FrequencyReader = (area: RectTuple) => Float64Array | null;

/** Caches each area: an area of one crop is also one of another crop's mirror image. */
function createFrequencyReader(image: IntegralImage): FrequencyReader {
  const cache = new Map<string, Float64Array | null>();
  return (area) => {
    const key = area.map((edge) => edge.toFixed(4)).join();
    let frequencies = cache.get(key);
    if (frequencies === undefined) {
      frequencies = toFrequencies(cellMeans(image, area, HASH_CELLS));
      cache.set(key, frequencies);
    }
    return frequencies;
  };
}

/** Returns the hashes of the original if the image is this crop of it, or of its mirror image. */
function hashesForCrop(
  frequencies: FrequencyReader,
  [left, top, width, height]: RectTuple,
): number[] {
  return AREAS.flatMap((area, i) => {
    const x = (area[0] - left) / width;
    const y = (area[1] - top) / height;
    const [w, h] = [area[2] / width, area[3] / height];
    const isInside = Math.min(x, y) >= -TOLERANCE && Math.max(x + w, y + h) <= 1 + TOLERANCE;
    if (!isInside) return [];
    const [plain, mirrored] = [frequencies([x, y, w, h]), frequencies([1 - x - w, y, w, h])];
    return hashesOfArea(plain, i, false, FLIPPED_BITS).concat(
      hashesOfArea(mirrored, i, true, FLIPPED_BITS),
    );
  });
}

/** Gives each area a range of hashes of its own. */
function hashesOfArea(
  frequencies: Float64Array | null,
  areaIndex: number,
  isMirrored: boolean,
  flippedBits: number,
): number[] {
  if (!frequencies) return [];
  const hashes = areaHashes(frequencies, isMirrored, flippedBits);
  return hashes.map((hash) => areaIndex * HASH_RANGE + hash);
}

function cropOffsets(share: number): number[] {
  const steps = Math.round((1 - share) / CROP_STEP);
  return Array.from({ length: steps + 1 }, (_, i) => (steps === 0 ? 0 : (i * (1 - share)) / steps));
}

/**
 * Scales an image down and stretches its luma to 0–255, so that pale and dark images keep detail.
 */
function toThumbnail(image: IntegralImage): Uint8Array<ArrayBuffer> {
  const means = cellMeans(image, WHOLE, SIGNATURE.thumbnailSide);
  const [min, max] = [minOf(means), maxOf(means)];
  const scale = 255 / Math.max(1, max - min);
  return Uint8Array.from(means, (mean) => Math.round((mean - min) * scale));
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

/** Cells each way of an area, whose means are the input of `toFrequencies`. */
const HASH_CELLS = 16;

const FREQUENCIES = 8;
/** Hashes of one area. Each takes its own share of the coefficients. */
const HASH_COUNT = 2;
const BITS = SIGNATURE.hashBits;
const HASH_RANGE = HASH_COUNT * 2 ** BITS;
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
function toFrequencies(means: Float64Array): Float64Array | null {
  return standardDeviation(means) < MIN_DEVIATION ? null : transformRows(transformRows(means));
}

/**
 * Returns the perceptual hashes of an area, integers below `HASH_RANGE`: the signs of its
 * frequencies (Zauner, "Implementation and Benchmarking of Perceptual Image Hash Functions", 2010),
 * in parts that are looked up separately (multi-index hashing: Norouzi, Punjani and Fleet, "Fast
 * Search in Hamming Space with Multi-Index Hashing", 2012). Adds every combination of the
 * `flippedBits` least certain bits flipped (multi-probe hashing: Lv, Josephson, Wang, Charikar and
 * Li, 2007). `isMirrored` gives the hashes of the mirror image.
 */
function areaHashes(frequencies: Float64Array, isMirrored: boolean, flippedBits: number): number[] {
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

/** Returns the bits of the smallest values. */
function uncertainBits(values: number[], count: number): number[] {
  const bits = Array.from(values.keys());
  return bits.sort((a, b) => Math.abs(values[a]!) - Math.abs(values[b]!)).slice(0, count);
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

/** Applies the cosine transform to rows of `HASH_CELLS` values, which become columns. */
function transformRows(values: Float64Array): Float64Array {
  const rowCount = values.length / HASH_CELLS;
  const result = new Float64Array(FREQUENCIES * rowCount);
  for (let frequency = 0, at = 0; frequency < FREQUENCIES; frequency++) {
    for (let row = 0; row < rowCount; row++, at++) {
      for (let cell = 0; cell < HASH_CELLS; cell++) {
        result[at]! += values[row * HASH_CELLS + cell]! * COSINES[frequency * HASH_CELLS + cell]!;
      }
    }
  }
  return result;
}
