import { SIGNATURE } from "../../parameters.ts";
import { areaHashes, toFrequencies, HASH_CELLS, HASH_RANGE } from "./area-hash.ts";
import {
  type RectTuple,
  type IntegralImage,
  cellMeans,
  toIntegralImage,
} from "./integral-image.ts";
import { maxCorrelation, toImageViews, WHOLE } from "./registration.ts";

/** The stored features of an image that find its copies, also cropped, mirrored or letterboxed. */
export interface ImageSignature {
  /**
   * Perceptual hashes of some areas. An image that shares one may be a copy. Flat areas have none.
   */
  hashes: number[];
  /** Luma, `SIGNATURE.thumbnailSide` each way. */
  lumaThumbnail: Uint8Array<ArrayBuffer>;
}

/** An image whose copies are searched for. */
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
/** Bits of a query's hash that are also looked up flipped. */
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
    compare: (lumaThumbnail) => round(maxCorrelation(views, lumaThumbnail)),
  };
}

/** Returns the frequencies of an area of an image, null for a flat one. */
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
  const [min, max] = [Math.min(...means), Math.max(...means)];
  const scale = 255 / Math.max(1, max - min);
  return Uint8Array.from(means, (mean) => Math.round((mean - min) * scale));
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
