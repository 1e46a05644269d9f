/** Words of English and how their meanings relate, as `scripts/lexicon.ts` writes them. */
export interface LexiconData {
  /** Where it comes from, and its copyright. */
  source: string;
  /**
   * A line a word, in the order of the alphabet: the word, the first letter of the class that it
   * most often has, and its most frequent meanings as noun, verb and adjective, by number in base
   * 36: `walk v1a,3c|9f`.
   */
  words: string;
  /** For each meaning, the differences to the numbers of its more general ones. */
  parents: string;
  /** For each meaning, the differences to those of words that are derived from it. */
  derived: string;
  /** A line an irregular form: the form, and its word. */
  forms: string;
}

export type WordClass = "noun" | "verb" | "adjective";
const CLASSES: readonly WordClass[] = ["noun", "verb", "adjective"];

/** Steps from a meaning to a more general one that still relate two words. */
const MAX_STEPS = 4;
/** Meanings nearer to the most general ones than this relate nothing: "object", "act". */
const MIN_DEPTH = 4;
/** Steps from a noun to the kind of which it is. */
const MAX_KIND_STEPS = 12;

/** Endings of inflected forms, and those of their words (WordNet's `morphy`). */
const ENDINGS: readonly (readonly [ending: string, replacement: string])[] = [
  ["men", "man"],
  ["ies", "y"],
  ["ves", "f"],
  ["es", "e"],
  ["es", ""],
  ["s", ""],
  ["ied", "y"],
  ["ed", "e"],
  ["ed", ""],
  ["ing", "e"],
  ["ing", ""],
  ["er", ""],
  ["er", "e"],
  ["est", ""],
  ["est", "e"],
];

/** Nouns that are mostly of people, even if WordNet lists another meaning first: "founder". */
const AGENT = /(?:er|or|ist|ian|ee)s?$/;

/** Nouns of which all that can be touched, and all places, are kinds. */
const PHYSICAL = ["object", "substance", "food", "person", "location", "thing"];

/** What the lexicon knows of a word. */
interface Entry {
  mainClass: WordClass | null;
  nouns: readonly number[];
  verbs: readonly number[];
  all: readonly number[];
  /** Its meanings and more general ones, with the number of steps to them. */
  ancestors: ReadonlyMap<number, number>;
  /** Meanings of words that are derived from it. */
  derived: readonly number[];
}

/**
 * Meanings of English words, from WordNet 3.1 (https://wordnet.princeton.edu): which words are
 * synonyms, which are kinds of others, and which are derived from one another. Words are in lower
 * case, in any inflected form.
 */
export class Lexicon {
  readonly #lines: ReadonlyMap<string, string>;
  readonly #forms: ReadonlyMap<string, string>;
  readonly #parents: readonly string[];
  readonly #derived: readonly string[];
  readonly #entries = new Map<string, Entry | null>();

  constructor({ words, parents, derived, forms }: LexiconData) {
    this.#lines = toMap(words);
    this.#forms = toMap(forms);
    this.#parents = parents.split(" ");
    this.#derived = derived.split(" ");
  }

  has(word: string): boolean {
    return this.#entry(word) !== null;
  }

  /** Returns the class that a word most often has; null for adverbs and unknown words. */
  mainClass(word: string): WordClass | null {
    return this.#entry(word)?.mainClass ?? null;
  }

  canBeNoun(word: string): boolean {
    return (this.#entry(word)?.nouns.length ?? 0) > 0;
  }

  canBeVerb(word: string): boolean {
    return (this.#entry(word)?.verbs.length ?? 0) > 0;
  }

  /** Whether a noun names more than an "object" or a "thing". */
  isSpecific(word: string): boolean {
    const sense = this.#entry(word)?.nouns[0];
    return sense !== undefined && this.#isSpecificSense(sense);
  }

  /** Whether a noun names nothing that can be touched: a breed, a song, a flavour. */
  isAbstract(word: string): boolean {
    return this.canBeNoun(word) && !PHYSICAL.some((kind) => this.isKindOf(word, kind));
  }

  /** Whether the most frequent meanings of a noun are a kind of another's: dog, animal. */
  isKindOf(word: string, general: string): boolean {
    const isAgent = AGENT.test(word);
    const senses = this.#entry(word)?.nouns.slice(0, isAgent ? 2 : 1) ?? [];
    const target = this.#entry(general)?.nouns[0];
    return target !== undefined && this.#ancestorsOf(senses, MAX_KIND_STEPS).has(target);
  }

  /**
   * Returns how well a word of a sentence stands for one of a question, 0–1: 0.9 for synonyms, less
   * for a more special word ("dog" for "animal") and for words that are derived from one another,
   * and still less for a more general one ("machine" for "printer").
   */
  relation(asked: string, stated: string): number {
    const one = this.#entry(asked);
    const other = this.#entry(stated);
    if (!one || !other) return 0;
    const isOneOf = (senses: readonly number[]) => (sense: number) => senses.includes(sense);
    if (one.all.some(isOneOf(other.all))) return 0.9;
    if (one.derived.some(isOneOf(other.all))) return 0.85;
    const down = this.#steps(other, one);
    if (down <= MAX_STEPS) return 0.85 - 0.1 * down;
    const up = this.#steps(one, other);
    if (up <= MAX_STEPS) return 0.7 - 0.1 * up;
    return one.derived.some(isOneOf(other.derived)) ? 0.6 : 0;
  }

  /** Counts the steps from a word to a more general one; infinite if it isn't more general. */
  #steps(word: Entry, general: Entry): number {
    const steps = general.all.flatMap((sense) => {
      const count = word.ancestors.get(sense);
      return count !== undefined && count > 0 && this.#isSpecificSense(sense) ? [count] : [];
    });
    return Math.min(Infinity, ...steps);
  }

  #isSpecificSense(sense: number): boolean {
    let at: number | undefined = sense;
    for (let depth = 0; depth < MIN_DEPTH && at !== undefined; depth++) [at] = this.#parentsOf(at);
    return at !== undefined;
  }

  #entry(word: string): Entry | null {
    let entry = this.#entries.get(word);
    if (entry === undefined) this.#entries.set(word, (entry = this.#read(word)));
    return entry;
  }

  #read(word: string): Entry | null {
    const lines = this.#lemmas(word).map((lemma) => this.#lines.get(lemma)!);
    if (lines.length === 0) return null;
    const [nouns, verbs, adjectives] = CLASSES.map((_, i) =>
      lines.flatMap((line) => {
        const ids = line.slice(1).split("|")[i]?.split(",") ?? [];
        return ids.filter(Boolean).map((id) => Number.parseInt(id, 36));
      }),
    ) as [number[], number[], number[]];
    const all = [...nouns, ...verbs, ...adjectives];
    return {
      mainClass: CLASSES.find((wordClass) => wordClass[0] === lines[0]![0]) ?? null,
      nouns,
      verbs,
      all,
      ancestors: this.#ancestorsOf(all, MAX_STEPS),
      derived: all.flatMap((sense) => toNumbers(this.#derived, sense)),
    };
  }

  /** Lists the words of which a word may be a form. */
  #lemmas(word: string): string[] {
    const candidates = [this.#forms.get(word) ?? "", word];
    for (const [ending, replacement] of ENDINGS) {
      if (!word.endsWith(ending)) continue;
      const stem = word.slice(0, -ending.length);
      candidates.push(stem + replacement);
      if (replacement === "" && /([^aeiou])\1$/.test(stem)) candidates.push(stem.slice(0, -1));
    }
    return [...new Set(candidates)].filter((lemma) => this.#lines.has(lemma));
  }

  #parentsOf(sense: number): number[] {
    return toNumbers(this.#parents, sense);
  }

  #ancestorsOf(senses: readonly number[], maxSteps: number): Map<number, number> {
    const steps = new Map(senses.map((sense) => [sense, 0]));
    let level = senses;
    for (let step = 1; step <= maxSteps && level.length > 0; step++) {
      const next = level.flatMap((sense) => this.#parentsOf(sense));
      level = next.filter((sense) => !steps.has(sense));
      for (const sense of level) steps.set(sense, step);
    }
    return steps;
  }
}

/** Reads lines of a word and a text. */
function toMap(lines: string): Map<string, string> {
  return new Map(
    lines.split("\n").map((line) => {
      const space = line.indexOf(" ");
      return [line.slice(0, space), line.slice(space + 1)];
    }),
  );
}

/** Reads the numbers of a meaning, which are stored as differences. */
function toNumbers(differences: readonly string[], sense: number): number[] {
  const text = differences[sense];
  return text ? text.split(",").map((part) => sense - Number.parseInt(part, 36)) : [];
}
