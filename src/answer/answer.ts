import { ANSWER } from "../config.ts";
import type { IndexId } from "../ids.ts";
import type { Hit } from "../search/hits.ts";
import { searchFor } from "../search/request.ts";
import { search } from "../search/search.ts";
import { type AnswerEvent, compose } from "./compose.ts";
import { extractQuotes } from "./extract.ts";
import type { Style } from "../prompts.ts";
import { picturesOf } from "./pictures.ts";
import { gatherSources } from "./sources.ts";

export interface Question extends Style {
  query: string;
  /** Segments to look at. */
  topK: number;
  /** Empty means all. */
  assetIds: string[];
}

export interface PictureQuestion extends Question {
  /** What is searched for. */
  searchTerm: string;
  /** Nucleus sampling: the model's own where it is undefined. */
  topP: number | undefined;
}

/** Answers from what an index holds in words. */
export async function* answerFromWords(
  env: Env,
  indexId: IndexId,
  { query: question, topK, assetIds, ...style }: Question,
  signal?: AbortSignal,
): AsyncGenerator<AnswerEvent> {
  const hits = await find(env, indexId, question, { topK, assetIds });
  const sources = gatherSources(hits);
  const task = { question, sources, pictures: new Map<number, Uint8Array>(), style };
  yield* compose(env, task, () => extractQuotes(question, hits), signal);
}

/** Answers from what an index holds in words and pictures. */
export async function* answerFromPictures(
  env: Env,
  indexId: IndexId,
  { query: question, searchTerm, topK, topP, assetIds, ...style }: PictureQuestion,
  signal?: AbortSignal,
): AsyncGenerator<AnswerEvent> {
  const hits = await find(env, indexId, searchTerm, { topK, assetIds });
  const sources = gatherSources(hits);
  const sought = searchTerm === question ? question : `${question} ${searchTerm}`;
  const pictures = await picturesOf(env, [...sources].slice(0, ANSWER.pictures));
  const task = { question, sources, pictures, style, ...(topP !== undefined && { topP }) };
  yield* compose(env, task, () => extractQuotes(sought, hits), signal);
}

async function find(
  env: Env,
  indexId: IndexId,
  query: string,
  wish: Pick<Question, "topK" | "assetIds">,
): Promise<Hit[]> {
  const { hits } = await search(env, indexId, searchFor({ query, ...wish }));
  return hits;
}
