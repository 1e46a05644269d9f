import type { Asset, SightlineIndex } from "sightline";
import { ANSWER } from "../../src/config.ts";
import type { AnswerCase } from "./case.ts";
import { judgeAnswer, type AnswerOutcome } from "./outcomes.ts";

/** Seconds added before and after the answer when a question is about a time range. */
const MARGIN_SECONDS = 5;

/**
 * Requests an answer from the text of an index, and checks whether a search with the same query
 * finds a right moment.
 */
export async function requestAnswer(
  index: SightlineIndex,
  answerCase: AnswerCase,
): Promise<AnswerOutcome> {
  const request = { query: answerCase.question, top_k: ANSWER.defaultTopK };
  const { segments } = await index.search(request);
  return judgeAnswer(answerCase, await index.answer(answerCase.question), segments);
}

/** Requests an answer from the text and images of an index. */
export async function requestImageAnswer(
  index: SightlineIndex,
  answerCase: AnswerCase,
): Promise<AnswerOutcome> {
  return judgeAnswer(answerCase, await index.answerFromImages(answerCase.question), null);
}

/**
 * Requests two answers about the time range of a video that answers `answered`: to its own
 * question, then to the question of `other`, which the range doesn't answer. Returns nothing if
 * `answered` isn't about a video.
 */
export async function requestRangeAnswer(
  index: SightlineIndex,
  [answered, other]: [AnswerCase, AnswerCase],
  assets: readonly Asset[],
): Promise<AnswerOutcome[]> {
  const [moment] = answered.right;
  const video = assets.find(({ title }) => title === moment?.file);
  if (!moment?.range || !video) return [];
  const region = {
    start_time: Math.max(0, moment.range.start - MARGIN_SECONDS),
    end_time: Math.min(video.duration_seconds ?? 0, moment.range.end + MARGIN_SECONDS),
  };
  const ask = ({ question }: AnswerCase) =>
    index.answerVideo(video.asset_id, { query: question, ...region });
  const response = await ask(answered);
  const otherResponse = await ask(other);
  return [
    judgeAnswer(answered, response, null),
    judgeAnswer({ ...other, set: answered.set, right: [], keys: [] }, otherResponse, null),
  ];
}
