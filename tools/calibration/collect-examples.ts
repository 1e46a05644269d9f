import { createRandom, shuffle } from "../training/random.ts";
import type { Api, AssetRecord, HitRecord } from "../api-client.ts";
import type { Corpus, GroundTruth } from "./corpus.ts";
import { createJudge, type EvalQuery } from "./questions.ts";

/** A hit of a query, and whether it is relevant. */
interface JudgedHit {
  signals: HitRecord["signals"];
  score: number;
  isRight: boolean;
}

/** Judged hits of a query, the best first. */
export interface JudgedQuery {
  hits: JudgedHit[];
  /** Number of relevant items in all. */
  relevantCount: number;
}

const DEPTH = 100;
/** Numbers of assets that queries are restricted to, in turn: archives differ in size. */
const ASSET_COUNTS = [8, 25, 80, Infinity];

/**
 * Runs the queries one after another, each on a part of the corpus that contains its target, if
 * there is one. `urlQuery` is added to the URL. Near-duplicates are not collapsed: the judge
 * accepts each of them.
 */
export async function collectExamples(
  api: Api,
  indexName: string,
  corpus: Corpus,
  questions: readonly EvalQuery[],
  urlQuery = "",
): Promise<JudgedQuery[]> {
  const judge = createJudge(corpus.truths);
  const assets = await listAssets(api, indexName);
  const random = createRandom(2);
  const judged: JudgedQuery[] = [];
  for (const [i, question] of questions.entries()) {
    const size = ASSET_COUNTS[Math.floor(i / ASSET_COUNTS.length) % ASSET_COUNTS.length]!;
    const relevant = judge(question);
    const target = relevant.find(({ captions }) => captions.includes(question.caption))?.file;
    const order = shuffle(assets.length, random).map((at) => assets[at]!);
    const chosen = new Map(order.slice(0, size).map(({ title, asset_id }) => [title, asset_id]));
    const targetAsset = target && assets.find(({ title }) => title === target);
    if (targetAsset) chosen.set(targetAsset.title, targetAsset.asset_id);
    const { segments } = await api.post<{ segments: HitRecord[] }>(
      `/index/${indexName}/search${urlQuery}`,
      {
        query: question.text,
        top_k: DEPTH,
        collapse: false,
        asset_ids: chosen.size < assets.length ? [...chosen.values()] : [],
      },
    );
    judged.push(
      judgeHits(
        segments,
        relevant.filter(({ file }) => chosen.has(file)),
      ),
    );
  }
  return judged;
}

/** Judges the hits of a query. */
export function judgeHits(segments: HitRecord[], relevant: readonly GroundTruth[]): JudgedQuery {
  const hits = segments.map(({ signals, score, ...hitRange }) => {
    return { signals, score, isRight: relevant.some((truth) => containsTruth(hitRange, truth)) };
  });
  return { hits, relevantCount: new Set(relevant.map(({ file, at }) => `${file} ${at}`)).size };
}

type HitRange = Pick<HitRecord, "title" | "start_seconds" | "end_seconds">;

function containsTruth(
  { title, start_seconds: start, end_seconds: end }: HitRange,
  { file, at }: GroundTruth,
) {
  return title === file && (at === null || (start! <= at && at < end!));
}

async function listAssets(api: Api, indexName: string): Promise<AssetRecord[]> {
  const assets: AssetRecord[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const query = new URLSearchParams({ limit: "100", ...(cursor && { cursor }) });
    const page: { assets: AssetRecord[]; next_cursor: string | null } = await api.get(
      `/index/${indexName}?${query.toString()}`,
    );
    assets.push(...page.assets);
    cursor = page.next_cursor;
  }
  return assets;
}
