import { ANSWER } from "../config.ts";
import { makeSearchRequest } from "../search/request.ts";
import { search } from "../search/search.ts";
import type { NamedIndexRef } from "../types.ts";
import { type AnswerEvent, composeAnswer } from "./compose.ts";
import { extractQuotes } from "./extractive.ts";
import type { AnswerStyle } from "../prompts.ts";
import { sourceImages } from "./source-images.ts";
import { gatherSources } from "./sources.ts";

export interface Question extends AnswerStyle {
  query: string;
  /** Maximum number of segments that are searched for evidence. */
  topK: number;
  /** Assets to search; empty for all. */
  assetIds: string[];
}

export interface ImageQuestion extends Question {
  /** The query of the search for evidence. */
  searchTerm: string;
  /** Nucleus sampling; undefined for the model's default. */
  topP: number | undefined;
}

/** Answers from the text of an index: speech, on-screen text and captions. */
export async function* answerFromText(
  env: Env,
  index: NamedIndexRef,
  { query: question, topK, assetIds, ...style }: Question,
  signal?: AbortSignal,
): AsyncGenerator<AnswerEvent> {
  const { hits } = await search(env, index, makeSearchRequest({ query: question, topK, assetIds }));
  const sources = gatherSources(hits);
  const findRelated = async () => hits;
  const task = { question, sources, images: NO_IMAGES, style, scope: SCOPE, findRelated };
  yield* composeAnswer(env, task, () => extractQuotes(env, question, hits), signal);
}

const SCOPE = "index" as const;
const NO_IMAGES: ReadonlyMap<number, Uint8Array> = new Map();

/** Answers from the text and the images of an index. */
export async function* answerFromImages(
  env: Env,
  index: NamedIndexRef,
  { query: question, searchTerm, topK, topP, assetIds, ...style }: ImageQuestion,
  signal?: AbortSignal,
): AsyncGenerator<AnswerEvent> {
  const request = makeSearchRequest({ query: searchTerm, topK, assetIds });
  const { hits } = await search(env, index, request);
  const sources = gatherSources(hits);
  const quoteQuery = searchTerm === question ? question : `${question} ${searchTerm}`;
  const images = await sourceImages(env, [...sources].slice(0, ANSWER.maxImages));
  const task = {
    question,
    sources,
    images,
    style,
    scope: SCOPE,
    findRelated: async () => hits,
    ...(topP !== undefined && { topP }),
  };
  yield* composeAnswer(env, task, () => extractQuotes(env, quoteQuery, hits), signal);
}
