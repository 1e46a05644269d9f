import { stemmer } from "stemmer";
import { uniqueWords } from "../../src/search/query.ts";
import { round } from "../../tools/suite.ts";
import { type AnswerCase, overlapsAny, type TitledRange } from "./case.ts";

/** Fields of an answer that are judged. */
export interface AnswerResponse {
  answer: string;
  grounded: boolean;
  citations: TitledRange[];
  model: string;
}

/** Result of the comparison of an answer with its case. */
export interface AnswerOutcome {
  set: string;
  isAnswerable: boolean;
  /** Whether a search for the question finds a right moment; null if there was no search. */
  isHit: boolean | null;
  grounded: boolean;
  citationCount: number;
  rightCitationCount: number;
  /** Whether the answer is grounded and contains all expected words. */
  isCorrect: boolean;
  isGenerated: boolean;
}

/** Shares from 0 to 1; "–" if the denominator is 0. */
export interface AnswerFigures {
  set: string;
  by: string;
  questions: number;
  hit_rate: number | "–";
  /** Share of the answerable questions that got an answer, right or wrong. */
  answered: number | "–";
  /** Share of the cited moments that are right. */
  precision: number | "–";
  /** Share of the answerable questions whose answer cites a right moment. */
  recall: number | "–";
  /** Share of the answerable questions whose answer contains the expected words. */
  correct: number | "–";
  /** Share of the unanswerable questions that were refused. */
  refused: number | "–";
  /** Share of the answers that a model wrote. */
  generated: number | "–";
}

/** Compares an answer, and the hits of a search if there was one, to its case. */
export function judgeAnswer(
  { set, right, keys }: AnswerCase,
  { answer, grounded, citations, model }: AnswerResponse,
  hits: readonly TitledRange[] | null,
): AnswerOutcome {
  const answerStems = new Set(uniqueWords(answer).map(stemmer));
  return {
    set,
    isAnswerable: right.length > 0,
    isHit: hits && hits.some((hit) => overlapsAny(hit, right)),
    grounded,
    citationCount: citations.length,
    rightCitationCount: citations.filter((moment) => overlapsAny(moment, right)).length,
    isCorrect: grounded && keys.every((key) => answerStems.has(stemmer(key))),
    isGenerated: model !== "extractive",
  };
}

/**
 * Summarises outcomes; `by` names the endpoint. Citations of unanswerable questions count as wrong.
 */
export function summarizeOutcomes(
  set: string,
  by: string,
  outcomes: readonly AnswerOutcome[],
): AnswerFigures {
  const answerable = outcomes.filter(({ isAnswerable }) => isAnswerable);
  const unanswerable = outcomes.filter(({ isAnswerable }) => !isAnswerable);
  const answers = outcomes.filter(({ grounded }) => grounded);
  const sum = (of: (outcome: AnswerOutcome) => number) =>
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
      sum(({ rightCitationCount }) => rightCitationCount),
      sum(({ citationCount }) => citationCount),
    ),
    recall: share(answerable, ({ rightCitationCount }) => rightCitationCount > 0),
    correct: share(answerable, ({ isCorrect }) => isCorrect),
    refused: share(unanswerable, ({ grounded }) => !grounded),
    generated: share(answers, ({ isGenerated }) => isGenerated),
  };
}

function share(outcomes: readonly AnswerOutcome[], matches: (outcome: AnswerOutcome) => boolean) {
  return ratio(outcomes.filter(matches).length, outcomes.length);
}

function ratio(part: number, whole: number): number | "–" {
  return whole === 0 ? "–" : round(part / whole, 3);
}
