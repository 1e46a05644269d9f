import { stemmer } from "stemmer";
import { wordsOf } from "../../src/search/query.ts";
import { round } from "../suite.ts";
import { type Case, isAmong, type Place } from "./case.ts";

/** What the service answers, as far as it is judged. */
export interface Answered {
  answer: string;
  grounded: boolean;
  citations: Place[];
  model: string;
}

/** What became of a question. */
export interface Outcome {
  set: string;
  isAnswerable: boolean;
  /** Whether a right moment is among what the search for the question brings; null where it wasn't asked. */
  isHit: boolean | null;
  grounded: boolean;
  cited: number;
  rightlyCited: number;
  /** Whether the answer holds the words that a right one does. */
  isCorrect: boolean;
  isGenerated: boolean;
}

/** Shares from 0 to 1; "–" of nothing. */
export interface Figures {
  set: string;
  by: string;
  questions: number;
  hit_rate: number | "–";
  /** Of the questions that have an answer, those that got one, right or wrong. */
  answered: number | "–";
  /** Of the moments that are cited, those that are right. */
  precision: number | "–";
  /** Of the questions that have an answer, those whose answer cites a right moment. */
  recall: number | "–";
  /** Of the questions that have an answer, those whose answer holds the words that tell it. */
  correct: number | "–";
  /** Of the questions that have none, those that got none. */
  refused: number | "–";
  /** Of the answers, those that a model wrote. */
  generated: number | "–";
}

export function judge(
  { set, right, keys }: Case,
  { answer, grounded, citations, model }: Answered,
  hits: readonly Place[] | null,
): Outcome {
  const said = new Set(wordsOf(answer).map(stemmer));
  return {
    set,
    isAnswerable: right.length > 0,
    isHit: hits && hits.some((hit) => isAmong(hit, right)),
    grounded,
    cited: citations.length,
    rightlyCited: citations.filter((moment) => isAmong(moment, right)).length,
    isCorrect: grounded && keys.every((key) => said.has(stemmer(key))),
    isGenerated: model !== "extractive",
  };
}

/** `by` is what was asked. Citations to questions that have no answer are wrong ones. */
export function sumUp(set: string, by: string, outcomes: readonly Outcome[]): Figures {
  const answerable = outcomes.filter(({ isAnswerable }) => isAnswerable);
  const open = outcomes.filter(({ isAnswerable }) => !isAnswerable);
  const answers = outcomes.filter(({ grounded }) => grounded);
  const sum = (of: (outcome: Outcome) => number) =>
    outcomes.reduce((total, outcome) => total + of(outcome), 0);
  return {
    set,
    by,
    questions: outcomes.length,
    hit_rate: share(
      answerable.filter(({ isHit }) => isHit !== null),
      ({ isHit }) => isHit === true,
    ),
    answered: share(answerable, ({ grounded }) => grounded),
    precision: ratio(
      sum(({ rightlyCited }) => rightlyCited),
      sum(({ cited }) => cited),
    ),
    recall: share(answerable, ({ rightlyCited }) => rightlyCited > 0),
    correct: share(answerable, ({ isCorrect }) => isCorrect),
    refused: share(open, ({ grounded }) => !grounded),
    generated: share(answers, ({ isGenerated }) => isGenerated),
  };
}

function share(outcomes: readonly Outcome[], isSo: (outcome: Outcome) => boolean) {
  return ratio(outcomes.filter(isSo).length, outcomes.length);
}

function ratio(part: number, whole: number): number | "–" {
  return whole === 0 ? "–" : round(part / whole, 3);
}
