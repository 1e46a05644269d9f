import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createJointEmbedder } from "../../local/engine/joint-space/embedder.ts";
import { loadImageEncoder } from "../../local/engine/joint-space/features.ts";
import { JOINT_SPACE_FILE } from "../../local/engine/joint-space/space.ts";
import { readWeights } from "../../local/engine/joint-space/weights.ts";
import { loadSentences, SENTENCE_DIMENSIONS } from "../../local/engine/sentences.ts";
import type { SegmentBatch, SegmentFields } from "../../tools/segment-batch.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";
import type { SuiteOptions } from "../../tools/suite.ts";
import { type CaptionedPhoto, readCaptionedPhotos } from "../../tools/training/captions.ts";
import { type Matrix, rowOf } from "../../tools/training/matrix.ts";
import { loadPhotoSet, type PhotoSet } from "../../tools/training/photo-set.ts";
import { cacheRows, nameCache } from "../../tools/training/row-cache.ts";
import type { CorpusPhotos, CorpusSegment } from "./corpus.ts";

/** Captioned photos and their vectors in the engine's text space and joint space. */
export interface CorpusMaterial {
  photos: CorpusPhotos;
  /** Unit vectors by index in the list of all photos: of a caption, and of the photo. */
  sentenceVector: (photo: number, sentence: number) => Float32Array;
  imageVector: (photo: number) => Float32Array;
}

/**
 * Loads the photos of `<DIR>/photos` and `<DIR>/photos-train` and embeds them with the engine's
 * models. Takes half an hour the first time; then reads the cache in .wrangler, which `npm run
 * train` shares. The joint space was trained on the second folder only.
 */
export async function loadCorpusMaterial({ dataDir, log }: SuiteOptions): Promise<CorpusMaterial> {
  const cacheFolder = join(PROJECT, ".wrangler/joint-space");
  const encoders = { images: await loadImageEncoder(), sentences: await loadSentences() };
  const sets: PhotoSet[] = [];
  const photos: CaptionedPhoto[][] = [];
  for (const name of ["photos", "photos-train"]) {
    const folder = join(dataDir, name);
    photos.push(await readCaptionedPhotos(folder));
    sets.push(await loadPhotoSet(folder, encoders, { cacheFolder, limit: Infinity, log }));
  }
  const [known = [], others = []] = photos;
  const imageVectors = await embedImages(sets, log);
  const sentences = [...known, ...others].map(({ captions }) => captions.length);
  const starts = sentences.map(() => 0);
  for (const [at, count] of sentences.entries()) starts[at + 1] = (starts[at] ?? 0) + count;
  const knownCaptionCount = starts[known.length] ?? 0;
  const [knownSet, otherSet] = sets;
  return {
    photos: { known, others },
    sentenceVector(photo, sentence) {
      const row = (starts[photo] ?? 0) + sentence;
      return row < knownCaptionCount
        ? rowOf(knownSet!.sentences, row)
        : rowOf(otherSet!.sentences, row - knownCaptionCount);
    },
    imageVector: (photo) => rowOf(imageVectors, photo),
  };
}

async function embedImages(
  sets: readonly PhotoSet[],
  log: (line: string) => void,
): Promise<Matrix> {
  const file = await readFile(JOINT_SPACE_FILE);
  const weights = readWeights(file);
  const features = sets.flatMap((set) =>
    Array.from({ length: set.images.rows }, (_, row) => rowOf(set.images, row)),
  );
  const name = nameCache([
    createHash("sha256").update(file).digest("hex"),
    ...sets.map((set) => JSON.stringify(set.captions)),
  ]);
  const embedder = createJointEmbedder(weights);
  return cacheRows(
    join(PROJECT, ".wrangler/bench", `${name}.vectors`),
    { rows: features.length, columns: weights.about.dimensions },
    async (from) => Float32Array.from(embedder.embedImage(features[from] ?? new Float32Array())),
    (rows) => {
      if (rows % 1024 === 0) log(`${rows} of ${features.length} images embedded`);
    },
  );
}

/**
 * Makes a batch: the vectors of a segment are the means of its captions' and its photos' vectors.
 */
export function toBatch(
  { sentenceVector, imageVector }: CorpusMaterial,
  segments: CorpusSegment[],
): SegmentBatch {
  const [first] = segments;
  const width = first ? imageVector(first.sources[0]?.photo ?? 0).length : 0;
  const batch = {
    segments: segments.map(toFields),
    textVectors: new Float32Array(segments.length * SENTENCE_DIMENSIONS),
    imageVectors: new Float32Array(segments.length * width),
  };
  for (const [at, { sources }] of segments.entries()) {
    const texts = sources.map(({ photo, sentence }) => sentenceVector(photo, sentence));
    batch.textVectors.set(meanVector(texts), at * SENTENCE_DIMENSIONS);
    batch.imageVectors.set(meanVector(sources.map(({ photo }) => imageVector(photo))), at * width);
  }
  return batch;
}

function toFields(segment: CorpusSegment): SegmentFields {
  const { segmentId, assetId, position, caption, transcript, onScreenText } = segment;
  return { segmentId, assetId, position, caption, transcript, onScreenText };
}

/** Returns the mean of vectors, scaled to length 1. */
function meanVector(vectors: readonly Float32Array[]): Float32Array {
  const sum = new Float32Array(vectors[0]?.length ?? 0);
  for (const vector of vectors) for (const [i, value] of vector.entries()) sum[i]! += value;
  const length = Math.hypot(...sum) || 1;
  return sum.map((value) => value / length);
}
