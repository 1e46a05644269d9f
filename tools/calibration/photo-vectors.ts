import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  createJointEmbedder,
  type JointEmbedder,
} from "../../local/engine/joint-space/embedder.ts";
import { listLabels, loadImageEncoder } from "../../local/engine/joint-space/features.ts";
import { readWeights } from "../../local/engine/joint-space/weights.ts";
import { MIN_OBJECT_SCORE } from "../../local/engine/objects.ts";
import { loadSentences, type SentenceEncoder } from "../../local/engine/sentences.ts";
import { type CaptionedPhoto, readCaptionedPhotos } from "../training/captions.ts";
import { type Matrix, rowOf } from "../training/matrix.ts";
import {
  type CaptionVectors,
  loadCaptionVectors,
  loadPhotoSet,
  type PhotoSet,
} from "../training/photo-set.ts";
import { CACHE_FOLDER, cacheRows, nameCache } from "../training/row-cache.ts";

/** Vectors of texts in the engine's text space and joint space, by text. */
interface TextVectors {
  texts: ReadonlyMap<string, ArrayLike<number>>;
  images: ReadonlyMap<string, ArrayLike<number>>;
}

/** Captioned photos in one list, with vectors of their captions and what they show. */
export interface PhotoTexts {
  photos: readonly CaptionedPhoto[];
  /** Unit vector, by the photo's number in `photos`. */
  sentenceVector: (photo: number, sentence: number) => Float32Array;
  /** The same of an image; null if images aren't embedded. */
  imageVector: ((photo: number) => Float32Array) | null;
  /** What the engine's detector finds in a photo, best first. */
  labelsOf: (photo: number) => string[];
  embedTexts(texts: readonly string[], signal: AbortSignal): Promise<TextVectors>;
}

/** Captioned photos of some folders, and their vectors by the engine's models. */
export interface PhotoVectors extends PhotoTexts {
  /** Number of the first photo of each folder. */
  starts: readonly number[];
  imageVector: (photo: number) => Float32Array;
}

/** Loads the first `limit` photos of a folder and embeds their captions only. */
export async function loadPhotoTexts(
  folder: string,
  limit: number,
  log: (line: string) => void,
): Promise<PhotoTexts> {
  const encoders = { images: await loadImageEncoder(), sentences: await loadSentences() };
  const photos = (await readCaptionedPhotos(folder)).slice(0, limit);
  const set = await loadPhotoSet(folder, encoders, { limit, log });
  return {
    photos,
    ...readPhotoSets([set], photos),
    imageVector: null,
    async embedTexts(list, signal) {
      const texts = await embedUnique(encoders.sentences, list, signal);
      return { texts, images: texts };
    },
  };
}

/**
 * Loads the photos of the folders and embeds them with the engine's models; `spaceFile` has the
 * weights of the joint space. Takes half an hour the first time for 7,000 photos; then reads the
 * cache, which `npm run train` shares.
 */
export async function loadPhotoVectors(
  folders: readonly string[],
  spaceFile: string,
  log: (line: string) => void,
): Promise<PhotoVectors> {
  const encoders = { images: await loadImageEncoder(), sentences: await loadSentences() };
  const { sets, photos, starts } = await loadFolders(folders, (folder) =>
    loadPhotoSet(folder, encoders, { limit: Infinity, log }),
  );
  const file = await readFile(spaceFile);
  const weights = readWeights(file);
  const embedder = createJointEmbedder(weights);
  const imageVectors = await embedImages(sets, embedder, {
    name: createHash("sha256").update(file).digest("hex"),
    dimensions: weights.about.dimensions,
    log,
  });
  return {
    photos,
    starts,
    ...readPhotoSets(sets, photos),
    imageVector: (photo) => rowOf(imageVectors, photo),
    async embedTexts(list, signal) {
      const texts = await embedUnique(encoders.sentences, list, signal);
      const images = new Map(
        [...texts].map(([text, vector]) => [text, embedder.embedText(text, vector)]),
      );
      return { texts, images };
    },
  };
}

/** Loads the captions of photos of some folders and embeds them; no photo is read. */
export async function loadSentenceVectors(
  folders: readonly string[],
  log: (line: string) => void,
): Promise<Pick<PhotoVectors, "photos" | "starts" | "sentenceVector">> {
  const encoder = await loadSentences();
  const { sets, photos, starts } = await loadFolders(folders, (folder) =>
    loadCaptionVectors(folder, encoder, { limit: Infinity, log }),
  );
  return { photos, starts, sentenceVector: readSentences(sets, photos) };
}

/** Loads what is known of each folder, and lists all photos in a row. */
async function loadFolders<Known>(
  folders: readonly string[],
  load: (folder: string) => Promise<Known>,
) {
  const sets: Known[] = [];
  const photos: CaptionedPhoto[] = [];
  const starts: number[] = [];
  for (const folder of folders) {
    starts.push(photos.length);
    photos.push(...(await readCaptionedPhotos(folder)));
    sets.push(await load(folder));
  }
  return { sets, photos, starts };
}

function readSentences(
  sets: readonly CaptionVectors[],
  photos: readonly CaptionedPhoto[],
): PhotoTexts["sentenceVector"] {
  let sentenceCount = 0;
  const firstSentence = photos.map(({ captions }) => {
    const first = sentenceCount;
    sentenceCount += captions.length;
    return first;
  });
  const sentences = sets.flatMap((set) => rowsOf(set.sentences));
  return (photo, sentence) => sentences[firstSentence[photo]! + sentence]!;
}

function readPhotoSets(
  sets: readonly PhotoSet[],
  photos: readonly CaptionedPhoto[],
): Pick<PhotoTexts, "sentenceVector" | "labelsOf"> {
  const features = sets.flatMap((set) => rowsOf(set.images));
  return {
    sentenceVector: readSentences(sets, photos),
    labelsOf: (photo) => listLabels(features[photo]!, MIN_OBJECT_SCORE),
  };
}

function rowsOf(matrix: Matrix): Float32Array[] {
  return Array.from({ length: matrix.rows }, (_, row) => rowOf(matrix, row));
}

async function embedUnique(
  encoder: SentenceEncoder,
  list: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, Float32Array>> {
  const unique = [...new Set(list)];
  const vectors = await encoder.embed(unique, signal);
  return new Map(unique.map((text, at) => [text, Float32Array.from(vectors[at]!)]));
}

async function embedImages(
  sets: readonly PhotoSet[],
  embedder: JointEmbedder,
  { name, dimensions, log }: { name: string; dimensions: number; log: (line: string) => void },
): Promise<Matrix> {
  const features = sets.flatMap((set) => rowsOf(set.images));
  const cache = nameCache([name, ...sets.map((set) => JSON.stringify(set.captions))]);
  return cacheRows(
    join(CACHE_FOLDER, `${cache}.vectors`),
    { rows: features.length, columns: dimensions },
    async (from) => Float32Array.from(embedder.embedImage(features[from]!)),
    (rows) => {
      if (rows % 1024 === 0) log(`${rows} of ${features.length} images embedded`);
    },
  );
}
