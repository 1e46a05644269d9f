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
import { readCaptionedPhotos } from "./captions.ts";
import type { Matrix } from "./matrix.ts";
import { cacheRows, nameCache } from "./row-cache.ts";

/** Features of photos and captions, the input of the towers. */
export interface PhotoSet {
  /** Image features, one photo per row. */
  images: Matrix;
  /**
   * Sentence vectors, one caption per row: those of the first photo, then those of the second, …
   */
  sentences: Matrix;
  captions: string[];
  /** Photo (row of `images`) of each caption. */
  photoOf: number[];
}

const SENTENCE_BATCH = 256;

export interface Encoders {
  images: ImageEncoder;
  sentences: SentenceEncoder;
}

export interface LoadOptions {
  /** Folder of cached features. */
  cacheFolder: string;
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
  { cacheFolder, limit, log }: LoadOptions,
): Promise<PhotoSet> {
  const all = await readCaptionedPhotos(folder);
  const photos = all.slice(0, limit);
  const captions = photos.flatMap((photo) => photo.captions);
  const name = nameCache([SENTENCE_MODEL, IMAGE_ENCODER, JSON.stringify(all)]);
  const logProgress = (what: string, count: number) => (rows: number) => {
    if (rows % 512 === 0 || rows === count) log(`${basename(folder)}: ${rows} of ${count} ${what}`);
  };
  return {
    images: await cacheRows(
      join(cacheFolder, `${name}.images`),
      { rows: photos.length, columns: IMAGE_FEATURES },
      (from) => encodePhoto(encoders.images, photos[from]?.path ?? ""),
      logProgress("photos", photos.length),
    ),
    sentences: await cacheRows(
      join(cacheFolder, `${name}.sentences`),
      { rows: captions.length, columns: SENTENCE_DIMENSIONS },
      async (from) => {
        const batch = captions.slice(from, from + SENTENCE_BATCH);
        const vectors = await encoders.sentences.embed(batch, new AbortController().signal);
        return Float32Array.from(vectors.flat());
      },
      logProgress("captions", captions.length),
    ),
    captions,
    photoOf: photos.flatMap((photo, row) => photo.captions.map(() => row)),
  };
}

async function encodePhoto(encoder: ImageEncoder, path: string): Promise<Float32Array> {
  try {
    return await encoder.read(await openImage(await readFile(path)));
  } catch (cause) {
    throw new Error(`${path} can't be read.`, { cause });
  }
}
