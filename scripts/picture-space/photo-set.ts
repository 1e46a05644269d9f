import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import {
  PICTURE_FEATURES,
  PICTURE_READER,
  type PictureReader,
} from "../../local/engine/picture-space/features.ts";
import { openPicture } from "../../local/engine/picture.ts";
import {
  SENTENCE_DIMENSIONS,
  SENTENCE_MODEL,
  type SentenceEncoder,
} from "../../local/engine/sentences.ts";
import { readCaptionedPhotos } from "./captions.ts";
import type { Matrix } from "./matrix.ts";
import { cacheRows, nameCache } from "./row-cache.ts";

/** Photos as the towers take them. */
export interface PhotoSet {
  /** A photo a row. */
  pictures: Matrix;
  /** A caption a row: those of the first photo, then those of the second, … */
  sentences: Matrix;
  captions: string[];
  /** The photo (row of `pictures`) of each caption. */
  photoOf: number[];
}

const SENTENCES_AT_ONCE = 256;

export interface Readers {
  pictures: PictureReader;
  sentences: SentenceEncoder;
}

export interface LoadOptions {
  /** What was computed before is read from here. */
  cacheFolder: string;
  /** The first so many photos by name. */
  limit: number;
  log: (line: string) => void;
}

/** The photos of `folder`. Errors: those of reading a photo, with its path. */
export async function loadPhotoSet(
  folder: string,
  readers: Readers,
  { cacheFolder, limit, log }: LoadOptions,
): Promise<PhotoSet> {
  const all = await readCaptionedPhotos(folder);
  const photos = all.slice(0, limit);
  const captions = photos.flatMap((photo) => photo.captions);
  const name = nameCache([SENTENCE_MODEL, PICTURE_READER, JSON.stringify(all)]);
  const tell = (what: string, count: number) => (rows: number) => {
    if (rows % 512 === 0 || rows === count) log(`${basename(folder)}: ${rows} of ${count} ${what}`);
  };
  return {
    pictures: await cacheRows(
      join(cacheFolder, `${name}.pictures`),
      { rows: photos.length, columns: PICTURE_FEATURES },
      (from) => readPhoto(readers.pictures, photos[from]?.path ?? ""),
      tell("photos", photos.length),
    ),
    sentences: await cacheRows(
      join(cacheFolder, `${name}.sentences`),
      { rows: captions.length, columns: SENTENCE_DIMENSIONS },
      async (from) => {
        const some = captions.slice(from, from + SENTENCES_AT_ONCE);
        const vectors = await readers.sentences.embed(some, new AbortController().signal);
        return Float32Array.from(vectors.flat());
      },
      tell("captions", captions.length),
    ),
    captions,
    photoOf: photos.flatMap((photo, row) => photo.captions.map(() => row)),
  };
}

async function readPhoto(reader: PictureReader, path: string): Promise<Float32Array> {
  try {
    return await reader.read(await openPicture(await readFile(path)));
  } catch (cause) {
    throw new Error(`${path} can't be read.`, { cause });
  }
}
