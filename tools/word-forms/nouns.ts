import { normalForm } from "../../src/text/tokens.ts";
import { readLines } from "./wordnet.ts";

/** Endings of plurals, and those of the singular (WordNet, morphy(7WN)). */
const PLURALS = [
  ["ies", "y"],
  ["ches", "ch"],
  ["shes", "sh"],
  ["ses", "s"],
  ["xes", "x"],
  ["zes", "z"],
  ["s", ""],
] as const;

/** Classes of words in keys of senses. */
const NOUN = "1";
const VERB = "2";

/** Least share of a word's tags in the texts of WordNet that are nouns. */
const MIN_NOUN_SHARE = 0.5;

/** What WordNet says about nouns. A meaning is the offset of its synset. */
export class Nouns {
  readonly #meanings: ReadonlyMap<string, readonly string[]>;
  readonly #hypernyms: ReadonlyMap<string, readonly string[]>;
  readonly #uses: ReadonlyMap<string, WordUses>;
  readonly #singulars = new Map<string, string | null>();

  constructor({ meanings, hypernyms, uses }: NounData) {
    this.#meanings = meanings;
    this.#hypernyms = hypernyms;
    this.#uses = uses;
  }

  /** Returns the meanings of a noun, the most frequent first; empty for another word. */
  meaningsOf(noun: string): readonly string[] {
    return this.#meanings.get(noun) ?? [];
  }

  /** Lists a meaning and all that is more general: a puppy is a dog, and an animal. */
  withHypernyms(meaning: string): string[] {
    const found = new Set([meaning]);
    for (const one of found) {
      for (const hypernym of this.#hypernyms.get(one) ?? []) found.add(hypernym);
    }
    return [...found];
  }

  /** Returns the singular of a noun; null for a word that isn't one. */
  toNoun(word: string): string | null {
    const known = this.#singulars.get(word);
    if (known !== undefined) return known;
    const noun = this.#findNoun(word);
    this.#singulars.set(word, noun);
    return noun;
  }

  #findNoun(word: string): string | null {
    const irregular = normalForm(word, "en").tokens;
    const base = irregular.length === 1 ? irregular[0]!.base : word;
    if (this.#meanings.has(base)) return base;
    for (const [plural, singular] of PLURALS) {
      const noun = base.slice(0, -plural.length) + singular;
      if (base.endsWith(plural) && this.#meanings.has(noun)) return noun;
    }
    return null;
  }

  /** Tests whether a word is mostly a noun; without texts, if it's no adjective or adverb. */
  isMostlyNoun(noun: string): boolean {
    const { nounTags, tags, isModifier } = this.#uses.get(noun)!;
    return tags > 0 ? nounTags >= MIN_NOUN_SHARE * tags : !isModifier && !noun.endsWith("ed");
  }
}

/** How often texts have a word, in all and as a noun; whether it's an adjective or adverb, too. */
interface WordUses {
  nounTags: number;
  tags: number;
  isModifier: boolean;
}

interface NounData {
  /** Offsets of synsets by noun, whose words are joined by underscores. */
  meanings: ReadonlyMap<string, readonly string[]>;
  /** The next more general synsets. */
  hypernyms: ReadonlyMap<string, readonly string[]>;
  uses: ReadonlyMap<string, WordUses>;
}

/** Reads the nouns of WordNet. Takes a second. */
export function readNouns(): Nouns {
  const meanings = new Map<string, string[]>();
  for (const line of readLines("index.noun")) {
    const [noun, , , symbolCount, ...rest] = line.trim().split(" ");
    meanings.set(noun!, rest.slice(Number(symbolCount) + 2));
  }
  return new Nouns({ meanings, hypernyms: readHypernyms(), uses: readUses() });
}

function readHypernyms(): Map<string, string[]> {
  const hypernyms = new Map<string, string[]>();
  for (const line of readLines("data.noun")) {
    const [offset, , , wordCount, ...rest] = line.split(" | ")[0]!.trim().split(" ");
    const [pointerCount, ...pointers] = rest.slice(2 * Number.parseInt(wordCount!, 16));
    const general = Array.from({ length: Number(pointerCount) }, (_, i) => pointers.slice(4 * i))
      .filter(([symbol]) => symbol === "@")
      .map(([, target]) => target!);
    hypernyms.set(offset!, general);
  }
  return hypernyms;
}

function readUses(): Map<string, WordUses> {
  const uses = new Map<string, WordUses>();
  for (const line of readLines("index.sense")) {
    const [key, , , count] = line.split(" ") as [string, string, string, string];
    const [word, sense] = key.split("%") as [string, string];
    const own = uses.get(word) ?? { nounTags: 0, tags: 0, isModifier: false };
    own.tags += Number(count);
    if (sense.startsWith(NOUN)) own.nounTags += Number(count);
    else if (!sense.startsWith(VERB)) own.isModifier = true;
    uses.set(word, own);
  }
  return uses;
}
