import { SIGNATURE } from "../config.ts";
import { areaKeys, frequenciesOf, KEY_CELLS, KEY_RANGE } from "./area-keys.ts";
import { type Area, type GreyPicture, meansOf, openGrey } from "./grey-picture.ts";
import { bestOverlap, viewsOf } from "./overlap.ts";

/** What is stored of a picture to find it again, also cropped, mirrored or letterboxed. */
export interface Signature {
  /** Of a few of its areas: a picture that shares one may be the same. Flat areas have none. */
  keys: number[];
  /** Its grey levels, `SIGNATURE.thumbnailSide` each way, Base64. */
  thumbnail: string;
}

/** A picture to find again. */
export interface SignatureQuery {
  /** Those that the original may have, the likeliest first. */
  keys: number[];
  /** How alike they are, between 0 and 1 (the same); from `SIGNATURE.same` on they are one picture. */
  compare(thumbnail: string): number;
}

const WHOLE: Area = [0, 0, 1, 1];

/** All, and areas in the middle: each crop that keeps 0.7 of both sides holds some of them. */
const AREAS: readonly Area[] = [
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

/** What a query may be of the original, with its offset in steps of about `CROP_STEP`. */
const CROP_STEP = 0.04;
const CROPS: readonly Area[] = [
  [1, 1],
  [0.9, 0.9],
  [0.8, 0.8],
  [0.7, 0.7],
  [0.9, 0.75],
  [0.75, 0.9],
].flatMap(([width, height]) =>
  offsets(width!).flatMap((left) =>
    offsets(height!).map((top): Area => [left, top, width!, height!]),
  ),
);
const GUESSES = 3;
const TOLERANCE = 0.01;

/**
 * The signature of `SIGNATURE.side`² grey pixels, stretched to a square. All that a query may have
 * gone through is tried on the query's side, so that what is stored stays small.
 */
export function signPicture(pixels: Uint8Array): Signature {
  const picture = openGrey(pixels);
  const read = createReader(picture);
  const keys = AREAS.flatMap((area, i) => keysOf(read(area), i, false, 0));
  return {
    keys,
    thumbnail: btoa(String.fromCharCode(...thumbnailOf(picture))),
  };
}

/**
 * Finds the picture of these pixels (as `signPicture` takes them) where it is stored as it is, or
 * where these are a crop of it that keeps 0.7 of each side or more; mirrored or not, with or without
 * black bars.
 */
export function querySignatures(pixels: Uint8Array): SignatureQuery {
  const picture = openGrey(pixels);
  const read = createReader(picture);
  const views = viewsOf(thumbnailOf(picture));
  return {
    keys: [...new Set(CROPS.flatMap((crop) => keysOfCrop(read, crop)))],
    compare: (thumbnail) => round(bestOverlap(views, decode(thumbnail))),
  };
}

/** The frequencies of an area of a picture; null where it is flat. */
type Read = (area: Area) => Float64Array | null;

/** Reads each area once: that of a crop is that of another's mirror image. */
function createReader(picture: GreyPicture): Read {
  const known = new Map<string, Float64Array | null>();
  return (area) => {
    const name = area.map((edge) => edge.toFixed(4)).join();
    let frequencies = known.get(name);
    if (frequencies === undefined) {
      frequencies = frequenciesOf(meansOf(picture, area, KEY_CELLS));
      known.set(name, frequencies);
    }
    return frequencies;
  };
}

/** The keys of the original, were the picture this crop of it or of its mirror image. */
function keysOfCrop(read: Read, [left, top, width, height]: Area): number[] {
  return AREAS.flatMap((area, i) => {
    const x = (area[0] - left) / width;
    const y = (area[1] - top) / height;
    const [w, h] = [area[2] / width, area[3] / height];
    const isInside = Math.min(x, y) >= -TOLERANCE && Math.max(x + w, y + h) <= 1 + TOLERANCE;
    if (!isInside) return [];
    const [plain, mirrored] = [read([x, y, w, h]), read([1 - x - w, y, w, h])];
    return keysOf(plain, i, false, GUESSES).concat(keysOf(mirrored, i, true, GUESSES));
  });
}

function keysOf(
  frequencies: Float64Array | null,
  area: number,
  isMirrored: boolean,
  guesses: number,
): number[] {
  if (!frequencies) return [];
  return areaKeys(frequencies, isMirrored, guesses).map((key) => area * KEY_RANGE + key);
}

function offsets(share: number): number[] {
  const steps = Math.round((1 - share) / CROP_STEP);
  return Array.from({ length: steps + 1 }, (_, i) => (steps === 0 ? 0 : (i * (1 - share)) / steps));
}

/** Stretched to all of 0–255, so that little is lost of a pale or dark picture. */
function thumbnailOf(picture: GreyPicture): Uint8Array {
  const means = meansOf(picture, WHOLE, SIGNATURE.thumbnailSide);
  const [least, most] = [Math.min(...means), Math.max(...means)];
  const scale = 255 / Math.max(1, most - least);
  return Uint8Array.from(means, (mean) => Math.round((mean - least) * scale));
}

function decode(thumbnail: string): Uint8Array {
  return Uint8Array.from(atob(thumbnail), (character) => character.charCodeAt(0));
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
