import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { loadPictureReader } from "../../local/engine/picture-space/features.ts";
import { createPlaces } from "../../local/engine/picture-space/places.ts";
import { PICTURE_SPACE_FILE } from "../../local/engine/picture-space/space.ts";
import { readWeights } from "../../local/engine/picture-space/weights.ts";
import { loadSentences, SENTENCE_DIMENSIONS } from "../../local/engine/sentences.ts";
import { type CaptionedPhoto, readCaptionedPhotos } from "../../scripts/picture-space/captions.ts";
import { type Matrix, rowOf } from "../../scripts/picture-space/matrix.ts";
import { loadPhotoSet, type PhotoSet } from "../../scripts/picture-space/photo-set.ts";
import { cacheRows, nameCache } from "../../scripts/picture-space/row-cache.ts";
import { PROJECT } from "../../scripts/stack/local-state.ts";
import type { SuiteOptions } from "../suite.ts";
import type { Batch } from "./batch.ts";
import type { CorpusPhotos, CorpusSegment, Passage } from "./corpus.ts";

/** Photos with their sentences, and what stands for both in the engine's two spaces. */
export interface Material {
  photos: CorpusPhotos;
  /** Vectors of length 1 by place in the list of all photos, of each sentence and of the photo. */
  sentenceOf: (photo: number, sentence: number) => Float32Array;
  placeOf: (photo: number) => Float32Array;
}

/**
 * The photos of `<DIR>/photos` and `<DIR>/photos-train`, read by the engine's own models: half an hour the
 * first time, then from what is kept in .wrangler (which `npm run train` shares). The picture space was
 * trained on the second folder only.
 */
export async function loadMaterial({ dataDir, log }: SuiteOptions): Promise<Material> {
  const cacheFolder = join(PROJECT, ".wrangler/picture-space");
  const readers = { pictures: await loadPictureReader(), sentences: await loadSentences() };
  const sets: PhotoSet[] = [];
  const photos: CaptionedPhoto[][] = [];
  for (const name of ["photos", "photos-train"]) {
    const folder = join(dataDir, name);
    photos.push(await readCaptionedPhotos(folder));
    sets.push(await loadPhotoSet(folder, readers, { cacheFolder, limit: Infinity, log }));
  }
  const [known = [], others = []] = photos;
  const places = await placePictures(sets, log);
  const sentences = [...known, ...others].map(({ captions }) => captions.length);
  const starts = sentences.map(() => 0);
  for (const [at, count] of sentences.entries()) starts[at + 1] = (starts[at] ?? 0) + count;
  const split = starts[known.length] ?? 0;
  const [knownSet, otherSet] = sets;
  return {
    photos: { known, others },
    sentenceOf(photo, sentence) {
      const row = (starts[photo] ?? 0) + sentence;
      return row < split
        ? rowOf(knownSet!.sentences, row)
        : rowOf(otherSet!.sentences, row - split);
    },
    placeOf: (photo) => rowOf(places, photo),
  };
}

async function placePictures(
  sets: readonly PhotoSet[],
  log: (line: string) => void,
): Promise<Matrix> {
  const file = await readFile(PICTURE_SPACE_FILE);
  const weights = readWeights(file);
  const pictures = sets.flatMap((set) =>
    Array.from({ length: set.pictures.rows }, (_, row) => rowOf(set.pictures, row)),
  );
  const name = nameCache([
    createHash("sha256").update(file).digest("hex"),
    ...sets.map((set) => JSON.stringify(set.captions)),
  ]);
  const places = createPlaces(weights);
  return cacheRows(
    join(PROJECT, ".wrangler/bench", `${name}.places`),
    { rows: pictures.length, columns: weights.about.dimensions },
    async (from) => Float32Array.from(places.ofPicture(pictures[from] ?? new Float32Array())),
    (rows) => {
      if (rows % 1024 === 0) log(`${rows} of ${pictures.length} pictures placed`);
    },
  );
}

/** Segments with their vectors: the mean of their sentences', and of their photos'. */
export function toBatch({ sentenceOf, placeOf }: Material, segments: CorpusSegment[]): Batch {
  const [first] = segments;
  const width = first ? placeOf(first.sources[0]?.photo ?? 0).length : 0;
  const batch = {
    passages: segments.map(toPassage),
    texts: new Float32Array(segments.length * SENTENCE_DIMENSIONS),
    pictures: new Float32Array(segments.length * width),
  };
  for (const [at, { sources }] of segments.entries()) {
    const texts = sources.map(({ photo, sentence }) => sentenceOf(photo, sentence));
    batch.texts.set(meanOf(texts), at * SENTENCE_DIMENSIONS);
    batch.pictures.set(meanOf(sources.map(({ photo }) => placeOf(photo))), at * width);
  }
  return batch;
}

function toPassage(segment: CorpusSegment): Passage {
  const { segmentId, assetId, position, caption, transcript, onScreenText } = segment;
  return { segmentId, assetId, position, caption, transcript, onScreenText };
}

/** Of length 1. */
function meanOf(vectors: readonly Float32Array[]): Float32Array {
  const sum = new Float32Array(vectors[0]?.length ?? 0);
  for (const vector of vectors) for (const [i, value] of vector.entries()) sum[i]! += value;
  const length = Math.hypot(...sum) || 1;
  return sum.map((value) => value / length);
}
