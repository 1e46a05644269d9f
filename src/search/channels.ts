import { SEARCH } from "../config.ts";
import { AppError } from "../errors.ts";
import type { SegmentId } from "../ids.ts";
import { embedInPictureSpace, hasPictureSpace } from "../models/embed-picture.ts";
import { embedText } from "../models/embed-text.ts";
import { Recent } from "../models/recent.ts";
import type { VectorHit } from "../store/vectors.ts";
import { searchWords } from "../store/words.ts";
import type { Timings } from "../timings.ts";
import { PICTURE_KINDS } from "../types.ts";
import { type Evidence, evidenceOfVector } from "./evidence.ts";
import type { Likeness, Same } from "./likeness.ts";
import { groupAssets, nearest } from "./nearest.ts";
import { unlessOut } from "./outage.ts";
import type { ParsedQuery } from "./query.ts";
import type { Scope } from "./request.ts";
import type { Signals } from "./signals.ts";
import type { Terms } from "./terms.ts";

/** What a channel has found of a segment, and why. */
export interface Finding {
  segmentId: SegmentId;
  signals: Signals;
  /** Null of words: the segment's own are read for all that is found. */
  evidence: Evidence | null;
  /** Where in the video, in ms; null for all of the segment. */
  span: Same["span"];
}

/** What is looked for: words, something to be like, or both. */
export interface Question {
  query: ParsedQuery;
  /** Of the query. */
  terms: Terms;
  like: Likeness | null;
}

/**
 * What every channel that has something to say about the question has found, all asked at the same
 * time, each for at least `count` segments. One whose model or index is out is silent; throws why where nothing
 * is found without it, and there are no words to go by. `isAll`: none has more.
 */
export async function askChannels(
  env: Env,
  scope: Scope,
  { query, terms, like }: Question,
  count: number,
  { time }: Timings,
): Promise<FoundWords & { isAll: boolean }> {
  const groups = groupAssets(env.DB, scope.assets);
  groups.catch(() => {}); // heard of by those who wait for it, unless they failed before
  const near = async (space: "TEXT_VECTORS" | "PICTURE_VECTORS", vector: number[]) => {
    const kinds = space === "TEXT_VECTORS" ? scope.vectors : PICTURE_KINDS;
    const asked = await groups;
    return time("vectors", async () => {
      const hits = await nearest(env[space], scope.assets, asked, [...kinds], vector, count);
      return space === "TEXT_VECTORS" ? findMeanings(hits) : findLooks(hits);
    });
  };

  const outages = like?.outage ? [like.outage] : [];
  const words = time("words", () => findWords(env.DB, scope, query, terms, count));
  const channels: Promise<Finding[]>[] = [];
  if (query.plain) {
    const meaning = orNone("meaning", outages, async () => {
      const ask = async () => (await embedText(env.AI, [query.plain]))[0]!;
      return near("TEXT_VECTORS", await time("model", () => meanings.get(query.plain, ask)));
    });
    channels.push(meaning);
  }
  if (like?.same) channels.push(Promise.resolve(like.same.map(toSame)));
  const { meaning } = like ?? {};
  if (meaning) channels.push(orNone("meaning", outages, () => near("TEXT_VECTORS", meaning)));
  if (scope.looks && hasPictureSpace(env) && (query.plain || like?.looks)) {
    const likely = orNone("looks", outages, async () => {
      const said = query.plain ? await time("model", () => lookOf(env, query.plain)) : null;
      return near("PICTURE_VECTORS", mix([said, like?.looks ?? null]));
    });
    channels.push(likely);
  }
  const [{ findings, weights }, ...found] = await Promise.all([words, ...channels]);
  const all = [findings, ...found];
  if (outages[0] && !query.plain && all.every(({ length }) => length === 0)) throw outages[0];
  return { findings: all.flat(), weights, isAll: all.every(({ length }) => length < count) };
}

/** Queries come again: while someone types, on the next page, from the next person. */
const meanings = new Recent<number[]>(SEARCH.keptQueries);
const looks = new Recent<number[]>(SEARCH.keptQueries);

function lookOf(env: Env, text: string): Promise<number[]> {
  const space = `${env.PICTURE_EMBEDDINGS_URL} ${env.PICTURE_EMBEDDINGS_MODEL}`;
  return looks.get(`${space} ${text}`, async () => {
    return (await embedInPictureSpace(env, [{ text }])).vectors[0]!;
  });
}

/** The direction between vectors: "this, but at night". */
export function mix(vectors: (number[] | null)[]): number[] {
  const units = vectors.flatMap((vector) => {
    const length = vector && Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
    return vector && length ? [vector.map((value) => value / length)] : [];
  });
  const [first = [], ...rest] = units;
  return first.map((value, i) => rest.reduce((sum, unit) => sum + unit[i]!, value));
}

interface FoundWords {
  findings: Finding[];
  /** How much each term of the query tells. */
  weights: readonly number[];
}

/** BM25 of a word that stands in few words very often, over its inverse document frequency: FTS5's k1 + 1. */
const MOST_BM25 = 2.2;

async function findWords(
  db: D1Database,
  { assets, columns }: Scope,
  query: ParsedQuery,
  terms: Terms,
  limit: number,
): Promise<FoundWords> {
  const { tokens } = terms;
  const { hits, counts } = await searchWords(db, { scope: assets, query, tokens, columns, limit });
  const weights = terms.weights(counts);
  const most = MOST_BM25 * weights.reduce((sum, weight) => sum + weight, 0);
  const findings = hits.map(({ segmentId, bm25 }) => {
    return { segmentId, signals: { bm25: Math.min(1, bm25 / most) }, evidence: null, span: null };
  });
  return { findings, weights };
}

function findMeanings(hits: VectorHit[]): Finding[] {
  const around = cosineAround(hits);
  return hits.map((hit) => toFinding(hit, { meaningLead: hit.cosine - around }));
}

function findLooks(hits: VectorHit[]): Finding[] {
  const around = cosineAround(hits);
  return hits.map((hit) => {
    return toFinding(hit, { picture: hit.cosine, pictureLead: hit.cosine - around });
  });
}

/** The mean of the nearest: of as many as are always asked for, so that it's the same on every page. */
function cosineAround(hits: VectorHit[]): number {
  const nearby = hits.slice(0, SEARCH.maxCandidates);
  return nearby.reduce((sum, { cosine }) => sum + cosine, 0) / nearby.length;
}

function toFinding(hit: VectorHit, signals: Signals): Finding {
  return { segmentId: hit.segmentId, signals, evidence: evidenceOfVector(hit), span: null };
}

function toSame({ segmentId, similarity, span }: Same): Finding {
  return {
    segmentId,
    signals: { same: similarity },
    evidence: { kind: "visual", score: similarity },
    span,
  };
}

/** Nothing in an outage, which is noted: then the other channels must do. */
async function orNone(
  channel: string,
  outages: AppError[],
  ask: () => Promise<Finding[]>,
): Promise<Finding[]> {
  const asked = await unlessOut(channel, ask);
  if (asked instanceof AppError) outages.push(asked);
  return asked instanceof AppError ? [] : asked;
}
