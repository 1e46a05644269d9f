import { createRandom, shuffle } from "../picture-space/random.ts";
import type { Api, AssetRecord, HitRecord } from "../demo/api-client.ts";
import type { Corpus, Truth } from "./corpus.ts";
import { createJudge, type Question } from "./questions.ts";

/** A hit of a question, and whether it was right. */
interface Observation {
  signals: HitRecord["signals"];
  score: number;
  isRight: boolean;
}

/** What a question brought, the best first. */
export interface Observed {
  hits: Observation[];
  /** How many right ones there are in all. */
  wanted: number;
}

const DEPTH = 100;
/** Among so many assets questions are asked in turn: archives are of all sizes. */
const SIZES = [8, 25, 80, Infinity];

/**
 * Asks all of the questions, one after another, each of a part of the corpus that holds what was asked
 * about, if anything does. `query` is that of the URL. Near-duplicates are wanted too: the judge knows them.
 */
export async function observe(
  api: Api,
  indexName: string,
  corpus: Corpus,
  questions: readonly Question[],
  query = "",
): Promise<Observed[]> {
  const judge = createJudge(corpus.truths);
  const assets = await listAssets(api, indexName);
  const random = createRandom(2);
  const observed: Observed[] = [];
  for (const [i, question] of questions.entries()) {
    const size = SIZES[Math.floor(i / SIZES.length) % SIZES.length]!;
    const right = judge(question);
    const target = right.find(({ captions }) => captions.includes(question.caption))?.file;
    const order = shuffle(assets.length, random).map((at) => assets[at]!);
    const chosen = new Map(order.slice(0, size).map(({ title, asset_id }) => [title, asset_id]));
    const wanted = target && assets.find(({ title }) => title === target);
    if (wanted) chosen.set(wanted.title, wanted.asset_id);
    const { segments } = await api.post<{ segments: HitRecord[] }>(
      `/index/${indexName}/search${query}`,
      {
        query: question.text,
        top_k: DEPTH,
        collapse: false,
        asset_ids: chosen.size < assets.length ? [...chosen.values()] : [],
      },
    );
    observed.push(
      toObserved(
        segments,
        right.filter(({ file }) => chosen.has(file)),
      ),
    );
  }
  return observed;
}

/** Hits as what is right among them. */
export function toObserved(segments: HitRecord[], right: readonly Truth[]): Observed {
  const hits = segments.map(({ signals, score, ...place }) => {
    return { signals, score, isRight: right.some((truth) => isOf(place, truth)) };
  });
  return { hits, wanted: new Set(right.map(({ file, at }) => `${file} ${at}`)).size };
}

type Place = Pick<HitRecord, "title" | "start_seconds" | "end_seconds">;

function isOf({ title, start_seconds: start, end_seconds: end }: Place, { file, at }: Truth) {
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
