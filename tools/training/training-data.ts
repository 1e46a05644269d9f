import { tokenizeWords } from "../../local/engine/joint-space/towers.ts";
import { type Matrix, pickRows } from "./matrix.ts";
import type { PhotoSet } from "./photo-set.ts";

/** Photos with captions, prepared for training. */
export interface TrainingData {
  images: Matrix;
  sentences: Matrix;
  /** Words of each caption that are in the vocabulary, as its rows. */
  words: number[][];
  /** Captions of each photo, as rows of `sentences` and `words`. */
  captionsOf: number[][];
  vocabulary: string[];
}

/** Minimum number of captions with a word: rarer words don't generalise. */
const MIN_CAPTIONS = 5;

/** Selects the photos `photos` of a set and builds the vocabulary of their captions. */
export function prepareTrainingData(set: PhotoSet, photos: readonly number[]): TrainingData {
  const position = new Map(photos.map((photo, at) => [photo, at]));
  const captionRows = [...set.captions.keys()].filter((at) => position.has(set.photoOf[at] ?? -1));
  const captionWords = captionRows.map((at) => tokenizeWords(set.captions[at] ?? ""));
  const vocabulary = listVocabulary(captionWords);
  const rows = new Map(vocabulary.map((word, row) => [word, row]));
  const captionsOf = photos.map((): number[] => []);
  for (const [row, at] of captionRows.entries()) {
    captionsOf[position.get(set.photoOf[at] ?? -1) ?? -1]?.push(row);
  }
  return {
    images: pickRows(set.images, photos),
    sentences: pickRows(set.sentences, captionRows),
    words: captionWords.map((words) => words.flatMap((word) => rows.get(word) ?? [])),
    captionsOf,
    vocabulary,
  };
}

function listVocabulary(captionWords: readonly (readonly string[])[]): string[] {
  const counts = new Map<string, number>();
  for (const word of captionWords.flat()) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count >= MIN_CAPTIONS)
    .map(([word]) => word)
    .sort();
}
