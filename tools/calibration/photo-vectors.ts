import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  createJointEmbedder,
  type JointEmbedder,
} from "../../local/engine/joint-space/embedder.ts";
import { loadImageEncoder } from "../../local/engine/joint-space/features.ts";
import { readWeights } from "../../local/engine/joint-space/weights.ts";
import { loadSentences } from "../../local/engine/sentences.ts";
import { PROJECT } from "../stack/local-state.ts";
import { type CaptionedPhoto, readCaptionedPhotos } from "../training/captions.ts";
import { type Matrix, rowOf } from "../training/matrix.ts";
import { loadPhotoSet, type PhotoSet } from "../training/photo-set.ts";
import { cacheRows, nameCache } from "../training/row-cache.ts";

/** Vectors of texts in the engine's text space and joint space, by text. */
interface TextVectors {
  texts: ReadonlyMap<string, ArrayLike<number>>;
  images: ReadonlyMap<string, ArrayLike<number>>;
}

/** Captioned photos of some folders in one list, and their vectors by the engine's models. */
export interface PhotoVectors {
  photos: readonly CaptionedPhoto[];
  /** Number of the first photo of each folder. */
  starts: readonly number[];
  /** Unit vectors, by the photo's number in `photos`. */
  sentenceVector: (photo: number, sentence: number) => Float32Array;
  imageVector: (photo: number) => Float32Array;
  embedTexts(texts: readonly string[], signal: AbortSignal): Promise<TextVectors>;
}

/**
 * Loads the photos of the folders and embeds them with the engine's models; `spaceFile` has the
 * weights of the joint space. Takes half an hour the first time for 7,000 photos; then reads the
 * cache in .wrangler, which `npm run train` shares.
 */
export async function loadPhotoVectors(
  folders: readonly string[],
  spaceFile: string,
  log: (line: string) => void,
): Promise<PhotoVectors> {
  const cacheFolder = join(PROJECT, ".wrangler/joint-space");
  const encoders = { images: await loadImageEncoder(), sentences: await loadSentences() };
  const sets: PhotoSet[] = [];
  const photos: CaptionedPhoto[] = [];
  const starts: number[] = [];
  for (const folder of folders) {
    starts.push(photos.length);
    photos.push(...(await readCaptionedPhotos(folder)));
    sets.push(await loadPhotoSet(folder, encoders, { cacheFolder, limit: Infinity, log }));
  }
  const file = await readFile(spaceFile);
  const weights = readWeights(file);
  const embedder = createJointEmbedder(weights);
  const imageVectors = await embedImages(sets, embedder, {
    name: createHash("sha256").update(file).digest("hex"),
    dimensions: weights.about.dimensions,
    log,
  });
  let sentenceCount = 0;
  const firstSentence = photos.map(({ captions }) => {
    const first = sentenceCount;
    sentenceCount += captions.length;
    return first;
  });
  const sentenceRows = sets.flatMap(({ sentences: matrix }) =>
    Array.from({ length: matrix.rows }, (_, row) => rowOf(matrix, row)),
  );
  return {
    photos,
    starts,
    sentenceVector: (photo, sentence) => sentenceRows[firstSentence[photo]! + sentence]!,
    imageVector: (photo) => rowOf(imageVectors, photo),
    async embedTexts(list, signal) {
      const unique = [...new Set(list)];
      const vectors = await encoders.sentences.embed(unique, signal);
      const texts = new Map(unique.map((text, at) => [text, Float32Array.from(vectors[at]!)]));
      const images = new Map(
        [...texts].map(([text, vector]) => [text, embedder.embedText(text, vector)]),
      );
      return { texts, images };
    },
  };
}

async function embedImages(
  sets: readonly PhotoSet[],
  embedder: JointEmbedder,
  { name, dimensions, log }: { name: string; dimensions: number; log: (line: string) => void },
): Promise<Matrix> {
  const features = sets.flatMap((set) =>
    Array.from({ length: set.images.rows }, (_, row) => rowOf(set.images, row)),
  );
  const cache = nameCache([name, ...sets.map((set) => JSON.stringify(set.captions))]);
  return cacheRows(
    join(PROJECT, ".wrangler/bench", `${cache}.vectors`),
    { rows: features.length, columns: dimensions },
    async (from) => Float32Array.from(embedder.embedImage(features[from]!)),
    (rows) => {
      if (rows % 1024 === 0) log(`${rows} of ${features.length} images embedded`);
    },
  );
}
