import type { Lexicon } from "../../../local/engine/quotes/lexicon.ts";
import { type Facts, makeFacts } from "../../facts/facts.ts";
import { readStatements } from "../../facts/statements.ts";
import { createRandom, type Random } from "../../random-numbers.ts";
import { shuffle } from "../random.ts";
import { CaptionQuestions } from "./caption-questions.ts";
import { TRAINING_KINDS } from "./fact-table.ts";

/** A question, and sentences of which some answer it. */
export interface TrainingQuestion {
  source: "captions" | "facts" | "statements";
  type: string;
  question: string;
  /** Sentences that are searched. */
  sentences: readonly string[];
  /** The one of them that answers; null if none does. */
  answer: string | null;
  /** 0 or 1. */
  half: number;
}

const SEED = 1;
/** Captions of other photos that are searched with each caption. */
const OTHER_CAPTIONS = 11;
const STATEMENTS = ["statements-1.txt", "statements-2.txt", "statements-hard.txt"];

/** Makes questions about the captions of `count` photos. */
export function makeCaptionQuestions(
  photos: readonly (readonly string[])[],
  lexicon: Lexicon,
  count: number,
): TrainingQuestion[] {
  const random = createRandom(SEED);
  const questions = new CaptionQuestions(photos, lexicon, random);
  const chosen = shuffle(photos.length, random).slice(0, count);
  return chosen.flatMap((at, i) =>
    [...questions.examplesOf(photos[at]!)].map(({ type, question, sentence, isAnswer }) => {
      const others = Array.from({ length: OTHER_CAPTIONS }, () => pickCaption(photos, random));
      const sentences = [...new Set([sentence, ...others])];
      const answer = isAnswer ? sentence : null;
      return { source: "captions", type, question, sentences, answer, half: i % 2 };
    }),
  );
}

function pickCaption(photos: readonly (readonly string[])[], random: Random): string {
  const captions = photos[Math.floor(random() * photos.length)]!;
  return captions[Math.floor(random() * captions.length)]!;
}

/** Makes questions about facts of invented things, and about statements that people wrote. */
export function makeFactQuestions(): TrainingQuestion[] {
  const halves = [0, 1];
  const facts = halves.flatMap((half) => {
    const kinds = TRAINING_KINDS.filter((_, i) => i % 2 === half);
    return toQuestions("facts", makeFacts(kinds, createRandom(SEED)), half);
  });
  const statements = STATEMENTS.flatMap((file) => {
    const all = readStatements(new URL(file, import.meta.url));
    return halves.flatMap((half) => toQuestions("statements", halve(all, half), half));
  });
  return facts.concat(statements);
}

/** Makes questions about statements on which nothing is fitted: the threshold is chosen by them. */
export function makeThresholdQuestions(): TrainingQuestion[] {
  const facts = readStatements(new URL("statements-threshold.txt", import.meta.url));
  return toQuestions("statements", facts, 0);
}

/** Returns every other statement, and the unanswered questions that belong to it. */
function halve({ stated, unanswered }: Facts, half: number): Facts {
  const each = unanswered.length / stated.length;
  return {
    stated: stated.filter((_, i) => i % 2 === half),
    unanswered: unanswered.filter((_, i) => Math.floor(i / each) % 2 === half),
  };
}

function toQuestions(
  source: "facts" | "statements",
  { stated, unanswered }: Facts,
  half: number,
): TrainingQuestion[] {
  const sentences = stated.map(({ sentence }) => sentence);
  const answered = stated.flatMap(({ sentence, questions }) =>
    questions.map(({ wording, question }) => {
      const type = wording === "near" ? "same words" : "other words";
      return { source, type, question, sentences, answer: sentence, half };
    }),
  );
  const others = unanswered.map(({ missing, question }) => {
    const type = missing === "property" ? "near miss" : "unanswerable";
    return { source, type, question, sentences, answer: null, half };
  });
  return [...answered, ...others];
}
