import { stemmer } from "stemmer";
import { isColour, isNumber } from "../../../local/engine/quotes/answer-kinds.ts";
import type { Lexicon } from "../../../local/engine/quotes/lexicon.ts";
import type { Random } from "../../random-numbers.ts";

/** A question about a photo, and a caption that answers it or doesn't. */
export interface CaptionExample {
  /** What is asked for, and how the caption was chosen: `subject`, `subject-near`, … */
  type: string;
  question: string;
  sentence: string;
  isAnswer: boolean;
}

/** A caption of the form "two small dogs run through the snow". */
interface Clause {
  /** Last noun before the verb, and the number before it. */
  head: string;
  number: string | null;
  /** The verb, ending in -ing. */
  verb: string;
  rest: string[];
}

const ARTICLES = new Set("a an the one some several his her their its".split(" "));
const PREPOSITIONS = new Set(
  `in on at through over near by into across along under behind beside against down up around past
   off onto inside`.split(/\s+/),
);
const PLURAL = /^(?:men|women|people|children)$|s$/;
/** Relation of two words that name the same thing. */
const SAME = 0.65;
/** Times that a word occurs in all captions, to be exchanged for another. */
const MIN_COUNT = 40;
const MAX_TRIES = 30;
const UNRELATED_CAPTIONS = 3;
const NEAR_MISSES = 3;
/** Words before a noun among which its number and colour stand: "two large brown dogs". */
const MAX_ATTRIBUTES = 3;

const wordsIn = (text: string) => text.toLowerCase().match(/[a-z'’-]+/g) ?? [];

/**
 * Makes questions from captions. Captions of one photo are paraphrases: a question made from one is
 * answered by each other one that has the word that is asked for, or one of the same meaning. No
 * caption answers it once a noun of it is exchanged for another.
 */
export class CaptionQuestions {
  readonly #lexicon: Lexicon;
  readonly #random: Random;
  readonly #photos: readonly (readonly string[])[];
  /** Nouns that are common in the captions. */
  readonly #nouns: string[];

  /** `photos` has the captions of each photo. */
  constructor(photos: readonly (readonly string[])[], lexicon: Lexicon, random: Random) {
    this.#photos = photos;
    this.#lexicon = lexicon;
    this.#random = random;
    const counts = new Map<string, number>();
    for (const word of photos.flat().flatMap(wordsIn)) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    this.#nouns = [...counts]
      .filter(([word, count]) => count >= MIN_COUNT && this.#isObject(word))
      .map(([word]) => word);
  }

  /** Yields the examples of a photo's captions. */
  *examplesOf(photo: readonly string[]): Generator<CaptionExample> {
    for (const caption of photo) {
      const others = photo.filter((other) => other !== caption);
      const clause = this.#parseClause(caption);
      if (clause) yield* this.#askAboutClause(clause, photo, others);
      yield* this.#askAboutAttributes(caption, photo, others);
    }
  }

  *#askAboutClause(
    { head, number, verb, rest }: Clause,
    photo: readonly string[],
    others: readonly string[],
  ): Generator<CaptionExample> {
    const be = number !== null || PLURAL.test(head) ? "are" : "is";
    const who = this.#isPerson(head)
      ? "Who"
      : this.#lexicon.isKindOf(head, "animal")
        ? "Which animal"
        : "What";
    const about = (words: readonly string[]) => `${who} is ${verb} ${words.join(" ")}?`;
    yield* this.#answered("subject", about(rest), head, others);
    const object = this.#findObject(rest);
    if (object !== null) {
      const asked = (noun: string) => `What ${be} the ${noun} ${verb}?`;
      yield* this.#answered("object", asked(head), rest[object]!, others);
      yield* this.#missed("object", photo, (other) => asked(other));
      yield* this.#missed("subject", photo, (other) => about(rest.with(object, other)));
    }
    const place = this.#findPlace(rest);
    if (place) {
      const before = rest
        .slice(0, place.preposition)
        .map((word) => ` ${word}`)
        .join("");
      const asked = (noun: string) => `Where ${be} the ${noun} ${verb}${before}?`;
      yield* this.#answered("place", asked(head), rest[place.noun]!, others);
      yield* this.#missed("place", photo, (other) => asked(other));
      yield* this.#missed("subject", photo, (other) => about(rest.with(place.noun, other)));
    }
  }

  *#askAboutAttributes(
    caption: string,
    photo: readonly string[],
    others: readonly string[],
  ): Generator<CaptionExample> {
    const words = wordsIn(caption);
    for (const [i, word] of words.entries()) {
      const noun = words[i + 1] ?? "";
      if (!this.#isNoun(noun) || isColour(noun)) continue;
      const plural = PLURAL.test(noun) ? noun : `${noun}s`;
      if (isColour(word)) {
        const ask = (of: string) => `What colour ${PLURAL.test(of) ? "are" : "is"} the ${of}?`;
        yield* this.#attributed("colour", ask(noun), word, noun, others, isColour);
        yield* this.#missed("colour", photo, ask);
      } else if (isNumber(word) && PLURAL.test(noun)) {
        const question = `How many ${plural} are there?`;
        yield* this.#attributed("count", question, word, noun, others, isNumber);
        yield* this.#missed("count", photo, (other) => `How many ${other}s are there?`);
      }
    }
  }

  /** Yields captions with the word that is asked for, and captions of other photos. */
  *#answered(
    type: string,
    question: string,
    key: string,
    others: readonly string[],
  ): Generator<CaptionExample> {
    for (const sentence of others) {
      const hasKey = wordsIn(sentence).some((word) => this.#isSame(word, key));
      if (hasKey) yield { type, question, sentence, isAnswer: true };
    }
    for (let i = 0; i < UNRELATED_CAPTIONS; i++) {
      const sentence = this.#pick(this.#pick(this.#photos));
      if (others.includes(sentence)) continue;
      yield { type: `${type}-random`, question, sentence, isAnswer: false };
    }
  }

  /** Yields captions that name a thing, with and without the attribute that is asked for. */
  *#attributed(
    type: string,
    question: string,
    value: string,
    noun: string,
    others: readonly string[],
    isValue: (word: string) => boolean,
  ): Generator<CaptionExample> {
    for (const sentence of others) {
      const words = wordsIn(sentence);
      const at = words.findIndex((word) => this.#isSame(word, noun));
      if (at < 0) continue;
      const before = words.slice(Math.max(0, at - MAX_ATTRIBUTES), at);
      if (before.includes(value)) yield { type, question, sentence, isAnswer: true };
      else if (!before.some(isValue)) {
        yield { type: `${type}-unsaid`, question, sentence, isAnswer: false };
      }
    }
  }

  /** Yields a question about a thing that no caption of the photo names, with its captions. */
  *#missed(
    type: string,
    photo: readonly string[],
    ask: (noun: string) => string,
  ): Generator<CaptionExample> {
    const noun = this.#pickUnrelated(photo);
    if (noun === null) return;
    for (const sentence of photo.slice(0, NEAR_MISSES)) {
      yield { type: `${type}-near`, question: ask(noun), sentence, isAnswer: false };
    }
  }

  #pickUnrelated(photo: readonly string[]): string | null {
    const words = new Set(photo.flatMap(wordsIn));
    for (let i = 0; i < MAX_TRIES; i++) {
      const noun = this.#pick(this.#nouns);
      if (![...words].some((word) => this.#isSame(word, noun))) return noun;
    }
    return null;
  }

  /** Parses "a/two (adjectives) noun (is/are) verb rest"; null for other captions. */
  #parseClause(caption: string): Clause | null {
    const words = wordsIn(caption);
    const [first = ""] = words;
    if (!ARTICLES.has(first) && !isNumber(first)) return null;
    const at = words.findIndex((word, i) => i > 1 && this.#beginsVerb(words, i, word));
    const verbAt = /^(?:is|are)$/.test(words[at] ?? "") ? at + 1 : at;
    const verb = toParticiple(words[verbAt] ?? "");
    const head = words[at - 1] ?? "";
    const isSimple = !words.slice(0, Math.max(0, at)).some((word) => this.#interrupts(word));
    if (at < 0 || !verb || !isSimple || !this.#isNoun(head)) return null;
    const rest = words.slice(verbAt + 1);
    const number = isNumber(first) ? first : null;
    return rest.length > 0 ? { head, number, verb, rest } : null;
  }

  #interrupts(word: string): boolean {
    return PREPOSITIONS.has(word) || /^(?:with|and|of|that)$/.test(word);
  }

  #beginsVerb(words: readonly string[], at: number, word: string): boolean {
    if (word === "is" || word === "are") return true;
    const next = words[at + 1] ?? "";
    const leads = ARTICLES.has(next) || PREPOSITIONS.has(next) || isNumber(next);
    return leads && /(?:ing|[^s]s)$/.test(word) && this.#lexicon.canBeVerb(word);
  }

  /** Returns the position of the noun of "a brown stick (in its mouth)". */
  #findObject(rest: readonly string[]): number | null {
    if (!ARTICLES.has(rest[0] ?? "") && !isNumber(rest[0] ?? "")) return null;
    const at = rest.findIndex(
      (word, i) => i > 0 && this.#isNoun(word) && !this.#isNoun(rest[i + 1]),
    );
    return at > 0 && at < 4 ? at : null;
  }

  #findPlace(rest: readonly string[]): { preposition: number; noun: number } | null {
    const preposition = rest.findIndex((word) => PREPOSITIONS.has(word));
    if (preposition < 0) return null;
    const noun = rest.findIndex((word, i) => {
      return i > preposition && this.#isNoun(word) && !this.#isNoun(rest[i + 1]);
    });
    return noun > 0 ? { preposition, noun } : null;
  }

  #isNoun(word = ""): boolean {
    return !ARTICLES.has(word) && !PREPOSITIONS.has(word) && this.#lexicon.canBeNoun(word);
  }

  #isObject(word: string): boolean {
    return word.length > 2 && this.#isNoun(word) && this.#lexicon.mainClass(word) === "noun";
  }

  #isPerson(word: string): boolean {
    return (
      /^(?:men|women|people|children|kids?)$/.test(word) || this.#lexicon.isKindOf(word, "person")
    );
  }

  #isSame(a: string, b: string): boolean {
    return stemmer(a) === stemmer(b) || this.#lexicon.relation(a, b) >= SAME;
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)]!;
  }
}

/** Returns the form of a verb that ends in -ing: "running" of "runs"; empty if it isn't known. */
function toParticiple(verb: string): string {
  if (verb.endsWith("ing")) return verb;
  if (!/[^s]s$/.test(verb)) return "";
  const stem = verb.replace(/(?<=ch|sh|x|ss)es$|ies$|s$/, (ending) =>
    ending === "ies" ? "y" : "",
  );
  if (/^(?:cut|get|hit|hug|jog|put|run|sit|swim)$/.test(stem)) return `${stem}${stem.at(-1)}ing`;
  return `${stem.replace(/(?<=[^e])e$/, "")}ing`;
}
