import { stemmer } from "stemmer";
import { tellingWords } from "../../src/search/query.ts";
import type { Random } from "../picture-space/random.ts";
import type { Corpus, Truth } from "./corpus.ts";

/** How a question was made of a caption: all of it, half of its words, one to three of them in a row. */
const FORMS = ["sentence", "half", "words"] as const;
type Form = (typeof FORMS)[number];

export interface Question {
  text: string;
  form: Form;
  /** The caption that it was made of. */
  caption: string;
  /** Whether that caption is one of something in the corpus. */
  isPresent: boolean;
}

const MOST_WORDS = 3;

/** `count` questions, a quarter of them about what isn't there. The same chance gives the same questions. */
export function askAbout(corpus: Corpus, count: number, random: Random): Question[] {
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)]!;
  return Array.from({ length: count }, (_, i) => {
    const isPresent = i % 4 !== 3;
    const caption = isPresent ? pick(pick(corpus.truths).captions) : pick(corpus.absent);
    const form = pick(FORMS);
    return { text: shorten(caption, form, random), form, caption, isPresent };
  });
}

function shorten(caption: string, form: Form, random: Random): string {
  if (form === "sentence") return caption;
  if (form === "half") {
    return caption
      .split(/\s+/)
      .filter((_, i) => i % 2 === 1)
      .join(" ");
  }
  const words = tellingWords(caption);
  const length = Math.min(words.length, 1 + Math.floor(random() * MOST_WORDS));
  const start = Math.floor(random() * (words.length - length + 1));
  return words.slice(start, start + length).join(" ");
}

/**
 * Tells which of what people described answers a question: that which it was asked about, and all
 * whose captions together hold every word of it that tells (by their stems: Porter, "An algorithm for
 * suffix stripping", 1980). That people who described a picture used all the words is taken for their
 * judgement; a caption of many words is hardly ever answered by another picture, one word by many.
 */
export function createJudge(truths: readonly Truth[]): (question: Question) => Truth[] {
  const stems = truths.map(({ captions }) => new Set(captions.flatMap(stemsOf)));
  return ({ text, caption }) => {
    const wanted = stemsOf(text);
    return truths.filter(({ captions }, i) => {
      return captions.includes(caption) || wanted.every((stem) => stems[i]!.has(stem));
    });
  };
}

function stemsOf(text: string): string[] {
  return tellingWords(text).map(stemmer);
}
