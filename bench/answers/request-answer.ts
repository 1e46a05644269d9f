import { ANSWER } from "../../src/config.ts";
import type { Api, AssetRecord, HitRecord } from "../../tools/api-client.ts";
import type { AnswerCase } from "./case.ts";
import { type AnswerResponse, judgeAnswer, type AnswerOutcome } from "./outcomes.ts";

/** Seconds added before and after the answer when a question is about a time range. */
const MARGIN_SECONDS = 5;

/**
 * Requests an answer from the text of an index, and checks whether a search with the same query
 * finds a right moment.
 */
export async function requestAnswer(
  api: Api,
  indexName: string,
  answerCase: AnswerCase,
): Promise<AnswerOutcome> {
  const body = { query: answerCase.question, top_k: ANSWER.defaultTopK };
  const searchResult = await api.post<{ segments: HitRecord[] }>(
    `/index/${indexName}/search`,
    body,
  );
  const answer = await fetchAnswer(api, `/index/${indexName}/answer`, {
    query: answerCase.question,
  });
  return judgeAnswer(answerCase, answer, searchResult.segments);
}

/** Requests an answer from the text and images of an index. */
export async function requestImageAnswer(
  api: Api,
  indexName: string,
  answerCase: AnswerCase,
): Promise<AnswerOutcome> {
  const answer = await fetchAnswer(api, `/index/${indexName}/answer_vqa`, {
    query: answerCase.question,
  });
  return judgeAnswer(answerCase, answer, null);
}

/**
 * Requests two answers about the time range of a video that answers `answered`: to its own
 * question, then to the question of `other`, which the range doesn't answer. Returns nothing if
 * `answered` isn't about a video.
 */
export async function requestRangeAnswer(
  api: Api,
  indexName: string,
  [answered, other]: [AnswerCase, AnswerCase],
  assets: readonly AssetRecord[],
): Promise<AnswerOutcome[]> {
  const [moment] = answered.right;
  const video = assets.find(({ title }) => title === moment?.file);
  if (!moment?.range || !video) return [];
  const region = {
    start_time: String(Math.max(0, moment.range.start - MARGIN_SECONDS)),
    end_time: String(Math.min(video.duration_seconds ?? 0, moment.range.end + MARGIN_SECONDS)),
  };
  const path = `/index/${indexName}/${video.asset_id}/answer_vqa`;
  const response = await fetchAnswer(api, path, { query: answered.question, ...region });
  const otherResponse = await fetchAnswer(api, path, { query: other.question, ...region });
  return [
    judgeAnswer(answered, response, null),
    judgeAnswer({ ...other, set: answered.set, right: [], keys: [] }, otherResponse, null),
  ];
}

function fetchAnswer(
  api: Api,
  path: string,
  query: Record<string, string>,
): Promise<AnswerResponse> {
  return api.get<AnswerResponse>(`${path}?${new URLSearchParams(query).toString()}`);
}
