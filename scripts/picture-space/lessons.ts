import { readWords } from "../../local/engine/picture-space/words.ts";
import { type Matrix, pickRows } from "./matrix.ts";
import type { PhotoSet } from "./photo-set.ts";

/** Photos with their captions, ready to be learnt. */
export interface Lessons {
  pictures: Matrix;
  sentences: Matrix;
  /** Of each caption the words that are in the vocabulary, as its rows. */
  words: number[][];
  /** The captions of each photo, as rows of `sentences` and `words`. */
  captionsOf: number[][];
  vocabulary: string[];
}

/** A word that fewer captions have teaches nothing that holds elsewhere. */
const MIN_CAPTIONS = 5;

/** The photos of `set` that `photos` lists, and the vocabulary of their captions. */
export function prepareLessons(set: PhotoSet, photos: readonly number[]): Lessons {
  const place = new Map(photos.map((photo, at) => [photo, at]));
  const kept = [...set.captions.keys()].filter((at) => place.has(set.photoOf[at] ?? -1));
  const spoken = kept.map((at) => readWords(set.captions[at] ?? ""));
  const vocabulary = listVocabulary(spoken);
  const rows = new Map(vocabulary.map((word, row) => [word, row]));
  const captionsOf = photos.map((): number[] => []);
  for (const [row, at] of kept.entries()) {
    captionsOf[place.get(set.photoOf[at] ?? -1) ?? -1]?.push(row);
  }
  return {
    pictures: pickRows(set.pictures, photos),
    sentences: pickRows(set.sentences, kept),
    words: spoken.map((words) => words.flatMap((word) => rows.get(word) ?? [])),
    captionsOf,
    vocabulary,
  };
}

function listVocabulary(spoken: readonly (readonly string[])[]): string[] {
  const counts = new Map<string, number>();
  for (const word of spoken.flat()) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count >= MIN_CAPTIONS)
    .map(([word]) => word)
    .sort();
}
