import type { Segment, SightlineIndex } from "sightline";
import { suggestQuestions } from "./question-suggestions.ts";
import { type SearchSuggestion, suggestSearches } from "./search-suggestions.ts";
import { readVocabulary } from "./vocabulary.ts";

export interface DemoQuery {
  text: string;
  evidence: SearchSuggestion["evidence"];
  /** Name of the file that must rank first. */
  expectedFile?: string;
}

const MAX_QUERIES = 6;
const MAX_QUESTIONS = 2;
/** Suggestions that are checked. */
const MAX_CHECKS = 24;
const MAX_QUESTION_CHECKS = 12;
/** A score is a probability: half is as likely right as wrong. */
const MIN_SCORE = 0.5;
const MAX_SEGMENTS = 500;

/**
 * Chooses searches and questions for an index. Each search finds its source first, with a likely
 * score; each question has a grounded answer that cites its source.
 */
export async function deriveQueries(index: SightlineIndex) {
  const query = "something to see, to read or to hear";
  const { segments } = await index.search({ query, top_k: MAX_SEGMENTS });
  const vocabulary = readVocabulary();
  const queries: DemoQuery[] = [];
  for (const suggestion of suggestSearches(segments, vocabulary).slice(0, MAX_CHECKS)) {
    if (queries.length === MAX_QUERIES) break;
    const { text, evidence } = suggestion;
    if (await findsSource(index, suggestion)) queries.push({ text, evidence });
  }
  return { queries, questions: await chooseQuestions(index, segments, vocabulary) };
}

async function findsSource(index: SightlineIndex, suggestion: SearchSuggestion): Promise<boolean> {
  const { segments } = await index.search({ query: suggestion.text, top_k: 1 });
  const [first] = segments;
  return first !== undefined && first.score >= MIN_SCORE && suggestion.assetIds.has(first.asset_id);
}

async function chooseQuestions(
  index: SightlineIndex,
  segments: readonly Segment[],
  vocabulary: ReturnType<typeof readVocabulary>,
): Promise<string[]> {
  const questions: string[] = [];
  for (const { text, assetId } of suggestQuestions(segments, vocabulary).slice(
    0,
    MAX_QUESTION_CHECKS,
  )) {
    if (questions.length === MAX_QUESTIONS) break;
    const { grounded, citations } = await index.answer(text);
    if (grounded && citations[0]?.asset_id === assetId) questions.push(text);
  }
  return questions;
}
