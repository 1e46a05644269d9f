import { COCO_LABELS } from "../../local/engine/coco.ts";
import { contentWords } from "../../src/search/query.ts";
import { type Nouns, readNouns } from "../word-forms/nouns.ts";

/** Words in labels of several words that are searched for alone, and kinds of labels. */
const OTHER_OBJECTS = ["ball", "table", "phone", "animal", "vehicle"];

/** Numbers of the meanings in WordNet of what isn't meant in its first one. */
const MEANINGS: Readonly<Record<string, number>> = {
  banana: 2,
  cake: 3,
  girl: 2,
  hot_dog: 2,
  kite: 3,
  microwave: 2,
  mouse: 4,
  table: 2,
  toaster: 2,
  toilet: 2,
  tv: 2,
};

/** What WordNet doesn't say, or of words that are rather verbs in its texts. */
const KINDS: Readonly<Record<string, string>> = {
  boy: "child",
  calf: "cow",
  crowd: "person",
  duck: "bird",
  family: "person",
  foal: "horse",
  girl: "child",
  kitten: "cat",
  lamb: "sheep",
  team: "person",
};

/** Synonyms of an object count in so many of their meanings: "bike" is a motorcycle first. */
const SYNONYM_MEANINGS = 2;

/** What the nouns of some texts mean. */
export interface NamedObjects {
  meanings: ReadonlySet<string>;
  /** The same, with all that is more general. */
  kinds: ReadonlySet<string>;
}

/** What a word means, and what is more general, as far as detectors know objects of it. */
export interface NamedKind {
  meanings: readonly string[];
  general: readonly string[];
}

/** Whether something is there, as far as texts say. */
export type Presence = "present" | "absent" | "unknown";

/**
 * Tells whether objects are of a kind: a puppy is a dog. Where texts only name what is more
 * general, that is unknown: a person may be a man.
 */
export function presenceOf({ meanings, general }: NamedKind, objects: NamedObjects): Presence {
  if (meanings.some((meaning) => objects.kinds.has(meaning))) return "present";
  return general.some((kind) => objects.meanings.has(kind)) ? "unknown" : "absent";
}

/** Knows what detectors call the objects that people name: a skier is a person. */
export class ObjectNames {
  readonly #nouns: Nouns;
  readonly #objects: ReadonlySet<string>;

  constructor(nouns: Nouns) {
    this.#nouns = nouns;
    const labels = [...COCO_LABELS.filter((label) => !label.includes(" ")), ...OTHER_OBJECTS];
    this.#objects = new Set(labels.flatMap((label) => this.#firstMeaning(label) ?? []));
  }

  /** Lists what the nouns of some texts mean, compounds as one: no "hot dog" is a dog. */
  readObjects(texts: readonly string[]): NamedObjects {
    const meanings = new Set<string>();
    for (const text of texts) {
      const words = contentWords(text.toLowerCase());
      for (let at = 0; at < words.length; at++) {
        const [word, next] = words.slice(at, at + 2) as [string, string | undefined];
        const compound = next === undefined ? null : this.#nouns.toNoun(`${word}_${next}`);
        if (compound !== null) at++;
        const noun = compound ?? this.#nouns.toNoun(word);
        for (const meaning of noun === null ? [] : this.#listKinds(noun)) meanings.add(meaning);
      }
    }
    const kinds = [...meanings].flatMap((meaning) => this.#nouns.withHypernyms(meaning));
    return { meanings, kinds: new Set(kinds) };
  }

  /** Returns what a word means of what detectors know; nothing for other words. */
  readWord(word: string): NamedKind {
    const noun = this.#nouns.toNoun(word);
    const meanings = noun === null ? [] : this.#listMeanings(noun);
    const own = meanings.filter((meaning) => this.#isObject(meaning));
    if (noun === null || own.length === 0) return { meanings: [], general: [] };
    const all = this.#listKinds(noun).flatMap((meaning) => this.#nouns.withHypernyms(meaning));
    return { meanings: own, general: all.filter((meaning) => this.#isObject(meaning)) };
  }

  #isObject(meaning: string): boolean {
    return this.#nouns.withHypernyms(meaning).some((kind) => this.#objects.has(kind));
  }

  #firstMeaning(noun: string): string | null {
    return this.#nouns.meaningsOf(noun)[(MEANINGS[noun] ?? 1) - 1] ?? null;
  }

  /** Lists what a noun usually means, and what else it may name of what detectors know. */
  #listMeanings(noun: string): string[] {
    const first = this.#firstMeaning(noun)!;
    const synonyms = this.#nouns.meaningsOf(noun).slice(0, SYNONYM_MEANINGS);
    const found = synonyms.filter((meaning) => this.#objects.has(meaning));
    if (this.#nouns.isMostlyNoun(noun) || this.#objects.has(first)) found.push(first);
    return found;
  }

  #listKinds(noun: string): string[] {
    const kind = KINDS[noun];
    return [...this.#listMeanings(noun), ...(kind ? [this.#firstMeaning(kind)!] : [])];
  }
}

let known: ObjectNames | undefined;

/** Reads WordNet once. */
export function objectNames(): ObjectNames {
  known ??= new ObjectNames(readNouns());
  return known;
}
