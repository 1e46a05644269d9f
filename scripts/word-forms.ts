import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { stemmer } from "stemmer";
import type { TraditionalHanData } from "../src/text/fold.ts";
import { bitsOf, type StemFilter } from "../src/text/spelling.ts";
import type { WordFormData } from "../src/text/stems.ts";
import { PROJECT } from "../tools/stack/local-state.ts";
import { spellings } from "../tools/word-forms/spellings.ts";
import {
  nounsIn,
  readLines,
  readRanks,
  readSynsets,
  readTagCounts,
  SINGLE_WORD,
  type Synset,
} from "../tools/word-forms/wordnet.ts";

/*
 * Writes src/text/word-forms.json: irregular English forms, British spellings, and words
 * that Porter's stemmer takes for one, by WordNet 3.1; and src/text/known-words.json, a
 * filter of all words, which aren't corrected; and src/text/traditional-han.json, of OpenCC.
 * `npm run word-forms`. Takes a few seconds; the same packages give the same files.
 */

const OUT = join(PROJECT, "src/text/word-forms.json");
const KNOWN_OUT = join(PROJECT, "src/text/known-words.json");
const HAN_OUT = join(PROJECT, "src/text/traditional-han.json");
/** Shorter words are not told from codes. */
const MIN_LETTERS = 3;
/** Compounds from this length on may be written as two words without being listed. */
const MAX_LISTED = 7;
/** Plurals of Latin and Greek words that may be in one synset with their singular. */
const FOREIGN_PLURALS = [
  ["a", "um"],
  ["a", "on"],
  ["i", "us"],
  ["ae", "a"],
  ["es", "is"],
] as const;
/** Words among this many of the most frequent ones in subtitles of films (SUBTLEX-US) count. */
const MAX_RANK = 30_000;

/** Forms that WordNet has as words of their own: a plural, and British words. */
const OTHER_FORMS = [
  ["people", "person"],
  ["mum", "mom"],
  ["aeroplane", "airplane"],
] as const;

const require = createRequire(import.meta.url);

/** Maps irregular forms that the stemmer doesn't know to base forms: "women" to "woman". */
function readIrregular(
  ranks: ReadonlyMap<string, number>,
  synsets: ReadonlyMap<string, Synset>,
): Map<string, string> {
  const tagCounts = readTagCounts();
  const count = (word: string) => tagCounts.get(word) ?? 0;
  const bases = new Map<string, string>();
  for (const name of ["noun", "verb", "adjective"]) {
    const list: Record<string, string> = require(`wink-lexicon/src/wn-${name}-exceptions.js`);
    for (const [form, base] of Object.entries(list)) {
      if (!SINGLE_WORD.test(form) || !SINGLE_WORD.test(base)) continue;
      if (stemmer(form) === stemmer(base) || !(ranks.has(form) || ranks.has(base))) continue;
      // "ground" is rarely a form of "grind".
      if (name === "verb" && count(form) > count(base)) continue;
      const other = bases.get(form);
      if (other === undefined || count(base) > count(other)) bases.set(form, base);
    }
  }
  for (const word of tagCounts.keys()) {
    if (/^[a-z]+man$/.test(word) && ranks.has(word)) bases.set(word.replace(/man$/, "men"), word);
  }
  for (const { words } of synsets.values()) {
    for (const form of words.filter((word) => SINGLE_WORD.test(word) && ranks.has(word))) {
      for (const [plural, singular] of FOREIGN_PLURALS) {
        const base = form.slice(0, -plural.length) + singular;
        const isPlural = form.endsWith(plural) && form !== base && words.includes(base);
        if (isPlural && stemmer(form) !== stemmer(base)) bases.set(form, base);
      }
    }
  }
  for (const singular of nounsIn(synsets)) {
    const form = `${singular}es`;
    const isKnown = /[aiou]s$/.test(singular) && (ranks.has(singular) || ranks.has(form));
    if (isKnown && stemmer(form) !== stemmer(singular)) bases.set(form, singular);
  }
  for (const [form, base] of OTHER_FORMS) bases.set(form, base);
  const resolve = (form: string): string => {
    const base = bases.get(form);
    return base === undefined ? form : resolve(base);
  };
  return new Map([...bases.keys()].map((form) => [form, resolve(form)]));
}

/** A rarer meaning of an adjective relates it to nothing: "organic" is seldom of an organ. */
const MIN_SHARE = 0.02;

/** Returns a test whether a word has the meaning of a synset, an adjective often. */
function frequentSenses(): (synset: string, word: string) => boolean {
  const totals = readTagCounts();
  const rare = new Set<string>();
  for (const line of readLines("index.sense")) {
    const [key, offset, , count] = line.split(" ") as [string, string, string, string];
    const [word, rest] = key.split("%") as [string, string];
    const letter = "?nvara"[Number(rest[0])]!;
    const isRare = letter === "a" && Number(count) < MIN_SHARE * totals.get(word)!;
    if (isRare) rare.add(`${letter}${offset} ${word}`);
  }
  return (synset, word) => !rare.has(`${synset} ${word}`);
}

/** A word that only looks like a plural of the other. */
const UNRELATED = [["new", "news"]];

/** Numbers unrelated words of one stem: "university" 1, "universe" 2. Related ones share it. */
function families(
  synsets: ReadonlyMap<string, Synset>,
  isFrequent: (word: string) => boolean,
): Map<string, number> {
  const parents = new Map<string, string>();
  const rootOf = (word: string): string => {
    const parent = parents.get(word);
    return parent === undefined ? word : rootOf(parent);
  };
  const join = (a: string, b: string) => {
    const [first, second] = [rootOf(a), rootOf(b)];
    if (first !== second) parents.set(second, first);
  };
  const lemmas = new Set<string>();
  const isFrequentSense = frequentSenses();
  for (const [id, { words, derived }] of synsets) {
    const own = words.map((word) => word.toLowerCase());
    for (const word of own) if (SINGLE_WORD.test(word)) lemmas.add(word);
    for (const a of own) for (const b of own) if (stemmer(a) === stemmer(b)) join(a, b);
    for (const pointer of derived) {
      const [from, target, to] = pointer.split(" ") as [string, string, string];
      const targets = synsets.get(target)?.words ?? [];
      const sources = from === "0" ? own : [own[Number(from) - 1]!];
      const goals = to === "0" ? targets : [targets[Number(to) - 1]!];
      for (const a of sources) {
        for (const b of goals.map((goal) => goal.toLowerCase())) {
          if (isFrequentSense(id, a) && isFrequentSense(target, b)) join(a, b);
        }
      }
    }
  }
  // Inflected forms are words of their own in WordNet, too: they follow their base form.
  const bases = [...lemmas].filter(
    (word) => isFrequent(word) && !/(?:(?<![su])s|ed|ing)$/.test(word),
  );
  const byStem = Map.groupBy(bases, (word) => stemmer(word));
  const numbers = new Map<string, number>();
  for (const words of byStem.values()) {
    const roots = [...new Set(words.map(rootOf))];
    if (roots.length < 2) continue;
    for (const word of words) numbers.set(word, 1 + roots.indexOf(rootOf(word)));
  }
  for (const pair of UNRELATED) for (const [i, word] of pair.entries()) numbers.set(word, i + 1);
  return numbers;
}

/** Maps short compounds that are also written as two words to the first one: "onboard" to "on". */
function compounds(
  synsets: ReadonlyMap<string, Synset>,
  ranks: ReadonlyMap<string, number>,
): Map<string, string> {
  const lemmas = new Set(
    [...synsets.values()].flatMap(({ words }) => words.map((word) => word.toLowerCase())),
  );
  const firsts = new Map<string, string>();
  for (const lemma of lemmas) {
    const [, first = "", second = ""] = /^([a-z]{2,})[_-]([a-z]{2,})$/.exec(lemma) ?? [];
    const joined = first + second;
    const isWord = lemmas.has(joined) || ranks.has(joined);
    if (first !== "" && isWord && joined.length <= MAX_LISTED) firsts.set(joined, first);
  }
  return firsts;
}

/** Lists the stems of the words of WordNet, and of frequent ones in subtitles. */
function knownStems(): Set<string> {
  const lemmas = [...synsets.values()].flatMap(({ words }) => words);
  const frequent = [...ranks].filter(([, rank]) => rank < MAX_RANK).map(([word]) => word);
  const long = [...lemmas, ...frequent]
    .map((word) => word.toLowerCase())
    .filter((word) => SINGLE_WORD.test(word) && word.length >= MIN_LETTERS);
  return new Set(long.map((word) => stemmer(word)));
}

const ranks = readRanks();
const synsets = readSynsets();
const irregular = readIrregular(ranks, synsets);
const lines = (entries: Iterable<readonly [string, string | number]>) =>
  [...entries].map((entry) => entry.join(" ")).toSorted();
const data: WordFormData = {
  irregular: lines(irregular),
  spellings: lines(spellings(synsets, irregular, ranks)),
  compounds: lines(compounds(synsets, ranks)),
  families: lines(families(synsets, (word) => (ranks.get(word) ?? Infinity) < MAX_RANK)),
};
const json = `${JSON.stringify(data, null, 1)}\n`;
await writeFile(OUT, json);
const known = toStemFilter(knownStems());
await writeFile(KNOWN_OUT, `${JSON.stringify(known, null, 1)}\n`);
const counts = Object.entries(data).map(([name, { length }]) => `${length} ${name}`);
console.log(`${OUT}: ${counts.join(", ")}, ${json.length} bytes, ${gzipSync(json).length} gzipped`);
console.log(`${KNOWN_OUT}: ${known.stems} stems, ${known.bits.length} bytes`);

/** Lists traditional characters of the Basic Multilingual Plane with the simplified ones. */
async function readHan(): Promise<TraditionalHanData> {
  const path = new URL("../esm-lib/dict/TSCharacters.js", import.meta.resolve("opencc-js"));
  const { default: pairs } = (await import(path.href)) as { default: string };
  const own = pairs.split("|").flatMap((line) => {
    const [traditional = "", simplified = ""] = line.split(" ");
    const isCommon = traditional.length === 1 && simplified.length === 1;
    return isCommon && traditional !== simplified ? [traditional + simplified] : [];
  });
  return { pairs: own.join("").match(/.{1,80}/gu) ?? [] };
}

const han = `${JSON.stringify(await readHan(), null, 1)}\n`;
await writeFile(HAN_OUT, han);
console.log(`${HAN_OUT}: ${han.length} characters, ${gzipSync(han).length} bytes gzipped`);

/** Returns a Bloom filter of stems, with ten bits a stem. */
function toStemFilter(stems: ReadonlySet<string>): StemFilter {
  const hashes = 7;
  const bits = new Uint8Array(Math.ceil((10 * stems.size) / 8));
  for (const stem of stems) {
    for (const bit of bitsOf(stem, hashes, 8 * bits.length)) bits[bit >> 3]! |= 1 << (bit & 7);
  }
  return { stems: stems.size, hashes, bits: Buffer.from(bits).toString("base64") };
}
