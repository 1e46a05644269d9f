import { ANSWER } from "../../src/config.ts";
import type { Api, AssetRecord, HitRecord } from "../../scripts/demo/api-client.ts";
import type { Case } from "./case.ts";
import { type Answered, judge, type Outcome } from "./outcomes.ts";

/** Seconds before and after what is asked about, in questions about a stretch of a video. */
const AROUND = 5;

/** Asks for an answer from all words of an index, and whether a search with the same words finds it. */
export async function askInWords(api: Api, indexName: string, one: Case): Promise<Outcome> {
  const body = { query: one.question, top_k: ANSWER.segments };
  const found = await api.post<{ segments: HitRecord[] }>(`/index/${indexName}/search`, body);
  const answer = await ask(api, `/index/${indexName}/answer`, { query: one.question });
  return judge(one, answer, found.segments);
}

/** Asks for an answer from all words and pictures of an index. */
export async function askInPictures(api: Api, indexName: string, one: Case): Promise<Outcome> {
  const answer = await ask(api, `/index/${indexName}/answer_vqa`, { query: one.question });
  return judge(one, answer, null);
}

/**
 * Asks of the stretch of a video in which `one` is answered, first what it answers, then `other`, which it
 * doesn't. Nothing where `one` isn't about a video.
 */
export async function askOfStretch(
  api: Api,
  indexName: string,
  [one, other]: [Case, Case],
  assets: readonly AssetRecord[],
): Promise<Outcome[]> {
  const [moment] = one.right;
  const video = assets.find(({ title }) => title === moment?.file);
  if (!moment?.span || !video) return [];
  const region = {
    start_time: String(Math.max(0, moment.span.start - AROUND)),
    end_time: String(Math.min(video.duration_seconds ?? 0, moment.span.end + AROUND)),
  };
  const path = `/index/${indexName}/${video.asset_id}/answer_vqa`;
  const told = await ask(api, path, { query: one.question, ...region });
  const open = await ask(api, path, { query: other.question, ...region });
  return [
    judge(one, told, null),
    judge({ ...other, set: one.set, right: [], keys: [] }, open, null),
  ];
}

function ask(api: Api, path: string, query: Record<string, string>): Promise<Answered> {
  return api.get<Answered>(`${path}?${new URLSearchParams(query).toString()}`);
}
