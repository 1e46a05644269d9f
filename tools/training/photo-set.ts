import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { openImage } from "../../local/engine/image.ts";
import {
  IMAGE_FEATURES,
  IMAGE_ENCODER,
  type ImageEncoder,
} from "../../local/engine/joint-space/features.ts";
import {
  SENTENCE_DIMENSIONS,
  SENTENCE_MODEL,
  type SentenceEncoder,
} from "../../local/engine/sentences.ts";
import { type CaptionedPhoto, readCaptionedPhotos } from "./captions.ts";
import type { Matrix } from "./matrix.ts";
import { CACHE_FOLDER, cacheRows, nameCache } from "./row-cache.ts";

/** Sentence vectors of the captions of some photos. */
export interface CaptionVectors {
  /** One caption per row: those of the first photo, then those of the second, … */
  sentences: Matrix;
  captions: string[];
  /** Photo of each caption, by its number. */
  photoOf: number[];
}

/** Features of photos and captions, the input of the towers. */
export interface PhotoSet extends CaptionVectors {
  /** Image features, one photo per row. */
  images: Matrix;
}

const SENTENCE_BATCH = 256;

export interface Encoders {
  images: ImageEncoder;
  sentences: SentenceEncoder;
}

export interface LoadOptions {
  /** Maximum number of photos, the first by name. */
  limit: number;
  log: (line: string) => void;
}

/**
 * Loads the photos of `folder` and computes features that aren't cached. Errors name the photo that
 * can't be read.
 */
export async function loadPhotoSet(
  folder: string,
  encoders: Encoders,
  options: LoadOptions,
): Promise<PhotoSet> {
  const read = await readFolder(folder, options.limit);
  const { photos, cache } = read;
  const images = await cacheRows(
    `${cache}.images`,
    { rows: photos.length, columns: IMAGE_FEATURES },
    (from) => encodePhoto(encoders.images, photos[from]?.path ?? ""),
    logProgress(folder, "photos", photos.length, options),
  );
  return { images, ...(await embedCaptions(folder, read, encoders.sentences, options)) };
}

/** Loads the captions of `folder` and computes vectors that aren't cached. */
export async function loadCaptionVectors(
  folder: string,
  encoder: SentenceEncoder,
  options: LoadOptions,
): Promise<CaptionVectors> {
  return embedCaptions(folder, await readFolder(folder, options.limit), encoder, options);
}

async function embedCaptions(
  folder: string,
  { photos, cache }: CachedFolder,
  encoder: SentenceEncoder,
  options: LoadOptions,
): Promise<CaptionVectors> {
  const captions = photos.flatMap((photo) => photo.captions);
  const sentences = await cacheRows(
    `${cache}.sentences`,
    { rows: captions.length, columns: SENTENCE_DIMENSIONS },
    async (from) => {
      const batch = captions.slice(from, from + SENTENCE_BATCH);
      const vectors = await encoder.embed(batch, new AbortController().signal);
      return Float32Array.from(vectors.flat());
    },
    logProgress(folder, "captions", captions.length, options),
  );
  const photoOf = photos.flatMap((photo, row) => photo.captions.map(() => row));
  return { sentences, captions, photoOf };
}

/** The photos of a folder, and the start of the names of its cached rows. */
interface CachedFolder {
  photos: CaptionedPhoto[];
  cache: string;
}

async function readFolder(folder: string, limit: number): Promise<CachedFolder> {
  const all = await readCaptionedPhotos(folder);
  const name = nameCache([SENTENCE_MODEL, IMAGE_ENCODER, JSON.stringify(all)]);
  return { photos: all.slice(0, limit), cache: join(CACHE_FOLDER, name) };
}

function logProgress(folder: string, what: string, count: number, { log }: LoadOptions) {
  return (rows: number) => {
    if (rows % 512 === 0 || rows === count) log(`${basename(folder)}: ${rows} of ${count} ${what}`);
  };
}

async function encodePhoto(encoder: ImageEncoder, path: string): Promise<Float32Array> {
  try {
    return await encoder.read(await openImage(await readFile(path)));
  } catch (cause) {
    throw new Error(`${path} can't be read.`, { cause });
  }
}
