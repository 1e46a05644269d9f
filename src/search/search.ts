import { SEARCH } from "../config.ts";
import { AppError, causeOf } from "../errors.ts";
import { log } from "../log.ts";
import { embedInPictureSpace, hasPictureSpace } from "../models/embed-picture.ts";
import { embedText } from "../models/embed-text.ts";
import type { VectorHit } from "../store/vectors.ts";
import { allOf, anyOf, searchWords, type WordHit } from "../store/words.ts";
import { listSegmentsInScope } from "../store/segments.ts";
import type { MediaIndexRow } from "../types.ts";
import { type Evidence, evidenceOfVector, evidenceOfWords } from "./evidence.ts";
import { fuse } from "./fuse.ts";
import { type Hit, toHits } from "./hits.ts";
import { groupAssets, nearest } from "./nearest.ts";
import { type ParsedQuery, parseQuery, wantedBy } from "./query.ts";
import { type Scope, scopeOf, type SearchRequest } from "./request.ts";

/** One way of searching: what it found, the best first, why, and how much its word counts. */
interface Channel {
  found: { segmentId: string; evidence: Evidence[] }[];
  weight: number;
}

/**
 * The segments of an index that answer a query, the best first: by meaning (text vectors), by looks
 * (picture vectors) and by word (full text), each over-fetched, less what is out of scope, fused by
 * rank. `hits` is the wanted page of `total`.
 */
export async function search(
  env: Env,
  index: MediaIndexRow,
  request: SearchRequest,
): Promise<{ hits: Hit[]; total: number }> {
  const scope = scopeOf(index.indexId, request);
  const query = parseQuery(request.query);
  const count = Math.max(SEARCH.maxCandidates, request.offset + request.topK);
  const channels = await askChannels(env, scope, query, count);

  const ids = new Set(channels.flatMap(({ found }) => found.map(({ segmentId }) => segmentId)));
  const [must, mustNot] = [allOf(query.phrases), anyOf(query.excluded)];
  const rows = await listSegmentsInScope(env.DB, [...ids], scope.assets, { must, mustNot });
  const byId = new Map(rows.map((row) => [row.segment.segmentId, row]));

  const fused = fuse(
    channels.map(({ found, weight }) => {
      const known = found.map(({ segmentId }) => segmentId).filter((id) => byId.has(id));
      return { ids: [...new Set(known)], weight };
    }),
  );
  const evidence = Map.groupBy(
    channels.flatMap(({ found }) => found),
    ({ segmentId }) => segmentId,
  );
  const hits = toHits(
    fused.map(({ id, score }) => {
      const pieces = (evidence.get(id) ?? []).flatMap((one) => one.evidence);
      const { segment, asset } = byId.get(id)!;
      return { segment, asset, score, evidence: pieces };
    }),
    request,
  );
  const page = hits.slice(request.offset, request.offset + request.topK);
  return { hits: page, total: hits.length };
}

async function askChannels(
  env: Env,
  scope: Scope,
  query: ParsedQuery,
  count: number,
): Promise<Channel[]> {
  const isJoint = scope.looks && hasPictureSpace(env);
  const groups = groupAssets(env.DB, scope.assets);
  const [byWord, byMeaning, byLooks] = await Promise.all([
    searchText(env.DB, scope, query, count),
    orNone("meaning", async () => {
      const [[vector], near] = await Promise.all([embedText(env.AI, [query.plain]), groups]);
      return nearest(env.TEXT_VECTORS, scope.assets, near, scope.vectors, vector!, count);
    }),
    orNone("looks", async () => {
      if (!isJoint) return [];
      const asked = embedInPictureSpace(env, [{ text: query.plain }]);
      const [{ vectors }, near] = await Promise.all([asked, groups]);
      return nearest(env.PICTURE_VECTORS, scope.assets, near, ["picture"], vectors[0]!, count);
    }),
  ]);
  const weights = SEARCH.weights[isJoint ? "joint" : "textOnly"];
  const vectorFound = (hits: VectorHit[]) =>
    hits.map((hit) => ({ segmentId: hit.segmentId, evidence: [evidenceOfVector(hit)] }));
  return [
    {
      found: byWord.map((hit) => {
        const evidence = evidenceOfWords(hit, query.words.length);
        return { segmentId: hit.segmentId, evidence };
      }),
      weight: weights.word,
    },
    { found: vectorFound(byMeaning), weight: weights.meaning },
    { found: vectorFound(byLooks), weight: weights.looks },
  ];
}

async function searchText(
  db: D1Database,
  { assets, columns }: Scope,
  query: ParsedQuery,
  limit: number,
): Promise<WordHit[]> {
  const expression = wantedBy(query);
  if (expression === null) return [];
  return searchWords(db, { scope: assets, expression, columns, limit });
}

/** Nothing in a model's outage: then the other channels must do. */
async function orNone(channel: string, ask: () => Promise<VectorHit[]>): Promise<VectorHit[]> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    log("warn", "search.without_channel", { channel, code: error.code, cause: causeOf(error) });
    return [];
  }
}
