import { join } from "node:path";
import { JOINT_SPACE_FILE } from "../../local/engine/joint-space/space.ts";
import { SENTENCE_DIMENSIONS } from "../../local/engine/sentences.ts";
import {
  loadPhotoVectors,
  loadSentenceVectors,
  type PhotoVectors,
} from "../../tools/calibration/photo-vectors.ts";
import { createRandom, drawNormal } from "../../tools/random-numbers.ts";
import type { SegmentBatch, SegmentFields } from "../../tools/segment-batch.ts";
import type { SuiteOptions } from "../../tools/suite.ts";
import { type CorpusPhotos, type CorpusSegment, makeSegments } from "./corpus.ts";

const BATCH_SEGMENTS = 1000;
/** Numbers of a random image vector, as many as the joint space has. */
const IMAGE_NUMBERS = 512;

/** Captioned photos and their vectors in the engine's text space and joint space. */
export interface CorpusMaterial extends Pick<PhotoVectors, "sentenceVector" | "imageVector"> {
  photos: CorpusPhotos;
}

/**
 * Loads the photos of `<DIR>/photos` and `<DIR>/photos-train` and embeds them with the engine's
 * models. The joint space was trained on the second folder only.
 */
export async function loadCorpusMaterial(options: SuiteOptions): Promise<CorpusMaterial> {
  return toMaterial(await loadPhotoVectors(listFolders(options), JOINT_SPACE_FILE, options.log));
}

/**
 * Loads the captions of the same photos, for searches without image vectors. Random ones take the
 * space of real ones.
 */
export async function loadTextMaterial(options: SuiteOptions): Promise<CorpusMaterial> {
  const texts = await loadSentenceVectors(listFolders(options), options.log);
  const imageVector = (photo: number) => {
    const random = createRandom(photo);
    return meanVector([Float32Array.from({ length: IMAGE_NUMBERS }, () => drawNormal(random))]);
  };
  return toMaterial({ ...texts, imageVector });
}

function listFolders({ dataDir }: SuiteOptions): string[] {
  return ["photos", "photos-train"].map((name) => join(dataDir, name));
}

function toMaterial(vectors: Omit<PhotoVectors, "labelsOf" | "embedTexts">): CorpusMaterial {
  const [, firstOther] = vectors.starts;
  const [known, others] = [vectors.photos.slice(0, firstOther), vectors.photos.slice(firstOther)];
  return { ...vectors, photos: { known, others } };
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

/** Makes the segments of a corpus of `to` segments after the first `from`, in batches. */
export function* batchesOf(
  material: CorpusMaterial,
  from: number,
  to: number,
): Generator<SegmentBatch> {
  const segments = makeSegments(material.photos, to);
  for (let at = from; at < to; at += BATCH_SEGMENTS) {
    yield toBatch(material, segments.slice(at, Math.min(to, at + BATCH_SEGMENTS)));
  }
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
