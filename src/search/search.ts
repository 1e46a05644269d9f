import { SEARCH } from "../config.ts";
import { AppError, causeOf } from "../errors.ts";
import { log } from "../log.ts";
import { embedInPictureSpace, hasPictureSpace } from "../models/embed-picture.ts";
import { embedText } from "../models/embed-text.ts";
import { queryVectors, type VectorHit } from "../store/vectors.ts";
import { searchWords, type WordHit } from "../store/words.ts";
import type { MediaIndexRow } from "../types.ts";
import { type Evidence, evidenceOfVector, evidenceOfWords } from "./evidence.ts";
import { fuse } from "./fuse.ts";
import { type Hit, hydrate } from "./hydrate.ts";
import { anyOf, tellingWords } from "./query.ts";
import { type Scope, scopeOf, type SearchRequest } from "./request.ts";

/** Vectorize takes a filter of 2 kB: so many ids fit; more are filtered after the query. */
const FILTER_IDS = 40;

/**
 * The segments of an index that answer a query, the best first: by meaning (text vectors), by looks
 * (picture vectors) and by word (full text), each over-fetched and fused by rank. `hits` is the
 * wanted page of `total`.
 */
export async function search(
  env: Env,
  index: MediaIndexRow,
  request: SearchRequest,
): Promise<{ hits: Hit[]; total: number }> {
  const scope = scopeOf(request.modes);
  const words = tellingWords(request.query);
  const isJoint = scope.looks && hasPictureSpace(env);
  const [byMeaning, byLooks, byWord] = await Promise.all([
    searchMeaning(env, index, request, scope),
    isJoint ? searchLooks(env, index, request, scope) : [],
    searchText(env.DB, index, request, scope, words),
  ]);
  const evidence = new Map<string, Evidence[]>();
  const note = (id: string, pieces: Evidence[]) =>
    evidence.set(id, [...(evidence.get(id) ?? []), ...pieces]);
  for (const hit of [...byMeaning, ...byLooks]) note(hit.segmentId, [evidenceOfVector(hit)]);
  for (const hit of byWord) note(hit.segmentId, evidenceOfWords(hit, words.length));

  const weights = SEARCH.weights[isJoint ? "joint" : "textOnly"];
  const fused = fuse([
    { ids: idsOf(byWord), weight: weights.word },
    { ids: idsOf(byMeaning), weight: weights.meaning },
    { ids: idsOf(byLooks), weight: weights.looks },
  ]);
  const hits = await hydrate(env.DB, fused, evidence, request, scope);
  const page = hits.slice(request.offset, request.offset + request.topK);
  return { hits: page, total: hits.length };
}

async function searchMeaning(
  env: Env,
  index: MediaIndexRow,
  request: SearchRequest,
  scope: Scope,
): Promise<VectorHit[]> {
  const vector = await orNull("meaning", async () => {
    return (await embedText(env.AI, [request.query]))[0]!;
  });
  if (!vector) return [];
  const filter = { ...filterOf(request, scope), kind: { $in: scope.vectors } };
  return queryVectors(env.TEXT_VECTORS, index.indexId, vector, SEARCH.maxCandidates, filter);
}

/** What looks like the query: the picture space holds texts too. */
async function searchLooks(
  env: Env,
  index: MediaIndexRow,
  request: SearchRequest,
  scope: Scope,
): Promise<VectorHit[]> {
  const vector = await orNull("looks", async () => {
    return (await embedInPictureSpace(env, [{ text: request.query }])).vectors[0]!;
  });
  if (!vector) return [];
  const filter = filterOf(request, scope);
  return queryVectors(env.PICTURE_VECTORS, index.indexId, vector, SEARCH.maxCandidates, filter);
}

function filterOf({ assetIds }: SearchRequest, { types }: Scope) {
  return {
    asset_type: { $in: types },
    ...(assetIds.length > 0 && assetIds.length <= FILTER_IDS && { asset_id: { $in: assetIds } }),
  };
}

/** Null in a model's outage: then the other channels must do. */
async function orNull<T>(channel: string, embedQuery: () => Promise<T>): Promise<T | null> {
  try {
    return await embedQuery();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    log("warn", "search.without_channel", { channel, code: error.code, cause: causeOf(error) });
    return null;
  }
}

async function searchText(
  db: D1Database,
  index: MediaIndexRow,
  { assetIds }: SearchRequest,
  { columns, types }: Scope,
  words: string[],
): Promise<WordHit[]> {
  const expression = anyOf(words);
  if (expression === null) return [];
  const limit = SEARCH.maxCandidates;
  return searchWords(db, { indexId: index.indexId, expression, columns, types, assetIds, limit });
}

function idsOf(hits: { segmentId: string }[]): string[] {
  return [...new Set(hits.map(({ segmentId }) => segmentId))];
}
