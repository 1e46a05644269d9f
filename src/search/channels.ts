import { CONNECTIONS, mapConcurrent } from "../concurrency.ts";
import { LIMITS, SEARCH } from "../config.ts";
import { AppError, traceOf } from "../errors.ts";
import type { IndexId, SegmentId } from "../ids.ts";
import { ignoreUntilAwaited } from "../ignored-errors.ts";
import { log } from "../log.ts";
import { hasImageEmbeddings } from "../models/embed-image.ts";
import { type AssetScope, selectsAssets } from "../store/index-database/asset-scope.ts";
import { listScope } from "../store/index-database/find-segments.ts";
import {
  type FtsHit,
  indexDatabases,
  type IndexDb,
} from "../store/index-database/index-database.ts";
import { vectorPairs, type VectorSpace } from "../store/vectorize/vector-pairs.ts";
import { queryVectors, type VectorHit } from "../store/vectorize/vectors.ts";
import type { TimeRangeMs } from "../time-range.ts";
import type { Timings } from "../timings.ts";
import {
  IMAGE_VECTOR_KINDS,
  type IndexRef,
  ASSET_KINDS,
  type AssetKind,
  TEXT_KINDS,
  type VectorKind,
} from "../types.ts";
import { embedQueryForImages, embedQueryText } from "./embed-query.ts";
import { type Evidence, vectorEvidence } from "./evidence.ts";
import { meanDirection } from "./example.ts";
import type { Feedback } from "./feedback.ts";
import type { Signals } from "./fuse.ts";
import type { CompiledQuery, CopyMatch } from "./query.ts";
import { refineVector } from "./refine-vector.ts";
import type { SearchScope } from "./request.ts";

/** A segment that a retrieval channel found, with the channel's signals. */
export interface ChannelHit {
  segmentId: SegmentId;
  signals: Signals;
  /** Null for full text: terms are matched in all candidates, whichever channel found them. */
  evidence: Evidence | null;
  /** The matching part of the video; null for the whole segment. */
  timeRange: TimeRangeMs | null;
}

interface ChannelHits {
  hits: ChannelHit[];
  /** Every channel returned fewer hits than requested: a deeper search finds nothing new. */
  isExhaustive: boolean;
  /** Why a channel is missing, if there is no text to search for; else null. */
  outage: AppError | null;
}

/**
 * Queries all channels but the full text that the query has input for, concurrently, each for at
 * least `count` segments. A channel whose model or index is unavailable returns no hits.
 */
export async function queryChannels(
  env: Env,
  index: IndexRef,
  input: { scope: SearchScope; query: CompiledQuery; feedback: Feedback; count: number },
  { time }: Timings,
): Promise<ChannelHits> {
  const { scope, query, feedback, count } = input;
  const { plainText, example } = query;
  const assetGroups = groupAssetIds(indexDatabases(env, index), scope.assets);
  assetGroups.catch(ignoreUntilAwaited); // by a channel, if any gets that far
  const searchVectors = async (space: "text" | "image", vector: number[]) => {
    const groups = await assetGroups;
    const nearest = (toVector: number[], hitCount: number) =>
      searchSpace(env, index, { space, scope, groups, vector: toVector, count: hitCount });
    return time("knn", async () => {
      const refined = refineVector(vector, feedback[space], feedback.weights);
      const [hits, unrefined] = await Promise.all([
        nearest(refined, count),
        space === "text" || refined === vector ? null : nearest(vector, SEARCH.maxCandidates),
      ]);
      const moved = unrefined ? moveCosines(hits, meanCosine(unrefined)) : hits;
      return toVectorHits(space, moved, meanCosine(moved));
    });
  };

  const outages = example?.outage ? [example.outage] : [];
  const channels: Promise<ChannelHit[]>[] = [];
  if (plainText) {
    const byText = async () => {
      const vector = await time("embed", () => embedQueryText(env, plainText));
      return vector ? searchVectors("text", vector) : [];
    };
    channels.push(noneIfUnavailable("text_vectors", outages, byText));
  }
  if (example?.copies) channels.push(Promise.resolve(example.copies.map(toCopyHit)));
  if (example?.textVector) {
    const { textVector } = example;
    const byExampleText = () => searchVectors("text", textVector);
    channels.push(noneIfUnavailable("text_vectors", outages, byExampleText));
  }
  const imageVector = example?.imageVector ?? null;
  if (scope.useImageVectors && hasImageEmbeddings(env) && (plainText || imageVector)) {
    const byImage = async () => {
      const textVector = plainText
        ? await time("embed", () => embedQueryForImages(env, plainText))
        : null;
      if (textVector === null && imageVector === null) return [];
      return searchVectors("image", meanDirection([textVector, imageVector]));
    };
    channels.push(noneIfUnavailable("image_vectors", outages, byImage));
  }
  const hits = await Promise.all(channels);
  return {
    hits: hits.flat(),
    isExhaustive: hits.every(({ length }) => length < count),
    outage: plainText ? null : (outages[0] ?? null),
  };
}

/**
 * Bound of a term's BM25 divided by its inverse document frequency: k1 + 1, with FTS5's k1 = 1.2.
 */
const MAX_BM25_PER_IDF = 2.2;

/** Converts full-text hits. `termWeights` are the inverse document frequencies of the terms. */
export function toFullTextHits(hits: FtsHit[], termWeights: readonly number[]): ChannelHit[] {
  const maxBm25 = MAX_BM25_PER_IDF * termWeights.reduce((sum, weight) => sum + weight, 0);
  return hits.map(({ segmentId, bm25 }) => {
    const signals = { bm25_normalized: maxBm25 > 0 ? Math.min(1, bm25 / maxBm25) : 0 };
    return { segmentId, signals, evidence: null, timeRange: null };
  });
}

/**
 * Moves the cosines of a refined vector's hits to the range of the query's own: images are nearer
 * to images than to words.
 */
function moveCosines(hits: readonly VectorHit[], mean: number): VectorHit[] {
  const offset = mean - meanCosine(hits);
  return hits.map((hit) => ({ ...hit, cosine: hit.cosine + offset }));
}

/** Converts hits of vectors. `mean` is that of the cosines of the nearest. */
export function toVectorHits(
  space: "text" | "image",
  hits: readonly VectorHit[],
  mean: number,
): ChannelHit[] {
  return hits.map((hit) => {
    const margin = hit.cosine - mean;
    const signals =
      space === "text"
        ? { text_margin: margin }
        : { image_similarity: hit.cosine, image_margin: margin };
    return { segmentId: hit.segmentId, signals, evidence: vectorEvidence(hit), timeRange: null };
  });
}

/** Averages the nearest `SEARCH.maxCandidates` only, so that margins don't depend on the depth. */
export function meanCosine(hits: readonly { cosine: number }[]): number {
  const nearest = hits.slice(0, SEARCH.maxCandidates);
  return nearest.reduce((sum, { cosine }) => sum + cosine, 0) / nearest.length;
}

export function toCopyHit({ segmentId, similarity, timeRange }: CopyMatch): ChannelHit {
  return {
    segmentId,
    signals: { copy_similarity: similarity },
    evidence: { kind: "visual", score: similarity },
    timeRange,
  };
}

/** Returns no hits if the channel is unavailable, and adds the failure to `outages`. */
async function noneIfUnavailable(
  channel: string,
  outages: AppError[],
  query: () => Promise<ChannelHit[]>,
): Promise<ChannelHit[]> {
  const hits = await tryChannel(channel, query);
  if (!(hits instanceof AppError)) return hits;
  outages.push(hits);
  return [];
}

/** Runs a channel's model call or query. Logs and returns an `AppError` instead of throwing it. */
export async function tryChannel<T>(
  channel: string,
  query: () => Promise<T>,
): Promise<T | AppError> {
  try {
    return await query();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    log("warn", "search.channel_unavailable", { channel, code: error.code, cause: traceOf(error) });
    return error;
  }
}

/** A search for the vectors of one space. */
interface SpaceQuery {
  space: "text" | "image";
  scope: SearchScope;
  groups: string[][] | null;
  vector: number[];
  count: number;
}

function searchSpace(env: Env, index: IndexRef, query: SpaceQuery): Promise<VectorHit[]> {
  const { space, scope, groups, vector, count } = query;
  const allKinds = space === "text" ? TEXT_KINDS : IMAGE_VECTOR_KINDS;
  const kinds = space === "text" ? scope.textKinds : allKinds;
  return searchKnn({
    spaces: vectorPairs(env, index).map((pair) => pair[space]),
    indexId: index.indexId,
    scope: scope.assets,
    groups,
    kinds,
    allKinds,
    vector,
    count,
  });
}

/** Returns the vectors in a scope that are nearest to each of several, for one scope. */
export async function findNearest(
  env: Env,
  index: IndexRef,
  scope: SearchScope,
  vectors: readonly { space: "text" | "image"; vector: number[] }[],
): Promise<VectorHit[][]> {
  const groups = await groupAssetIds(indexDatabases(env, index), scope.assets);
  const count = SEARCH.maxCandidates;
  return mapConcurrent(vectors, 1, ({ space, vector }) =>
    searchSpace(env, index, { space, scope, groups, vector, count }),
  );
}

/** Asset ids per filter: Vectorize takes a filter of 2 kB. */
const IDS_PER_FILTER = 40;

/**
 * Lists the assets of a scope with ids or conditions, in groups that fit into a filter. Null if the
 * scope has neither, or more than `LIMITS.assetIdCount` assets.
 */
async function groupAssetIds(
  databases: readonly IndexDb[],
  scope: AssetScope,
): Promise<string[][] | null> {
  if (!selectsAssets(scope)) return null;
  const ids = await listScope(databases, scope, LIMITS.assetIdCount + 1);
  if (ids.length > LIMITS.assetIdCount) return null;
  return Array.from({ length: Math.ceil(ids.length / IDS_PER_FILTER) }, (_, i) =>
    ids.slice(i * IDS_PER_FILTER, (i + 1) * IDS_PER_FILTER),
  );
}

/** A search for the vectors of an index that are nearest to one. */
interface KnnQuery {
  spaces: VectorSpace[];
  indexId: IndexId;
  scope: AssetScope;
  /** Asset ids to filter by; null for the whole index. */
  groups: string[][] | null;
  kinds: readonly VectorKind[];
  /** Kinds of vectors that the spaces have. */
  allKinds: readonly VectorKind[];
  vector: number[];
  count: number;
}

/**
 * Returns the vectors of some Vectorize indexes that are nearest to a query vector, best first. A
 * query returns 100: for a larger `count`, each kind of vector and each kind of asset is queried
 * separately, which may still return fewer. Conditions that all vectors meet are left out, such as
 * the whole of `allKinds`: Vectorize would evaluate them for each vector.
 */
async function searchKnn(query: KnnQuery): Promise<VectorHit[]> {
  const { spaces, indexId, scope, groups, kinds, allKinds, vector, count } = query;
  const isDeep = count > SEARCH.maxCandidates;
  const kindSets = isDeep ? kinds.map((kind) => [kind]) : [kinds];
  const assetSets = isDeep ? scope.kinds.map((kind) => [kind]) : [scope.kinds];
  const toFilter = (
    kind: readonly VectorKind[],
    assetKinds: readonly AssetKind[],
    ids: string[] | null,
  ): VectorizeVectorMetadataFilter => ({
    ...(kind.length < allKinds.length && { kind: { $in: [...kind] } }),
    ...(assetKinds.length < ASSET_KINDS.length && { asset_type: { $in: [...assetKinds] } }),
    ...(scope.exceptAssetId !== null && { asset_id: { $ne: scope.exceptAssetId } }),
    ...(ids && { asset_id: { $in: ids } }),
  });
  const filters = kindSets.flatMap((kind) =>
    assetSets.flatMap((assetKinds) =>
      (groups ?? [null]).map((ids) => toFilter(kind, assetKinds, ids)),
    ),
  );
  const queries = spaces.flatMap((space) => filters.map((filter) => ({ space, filter })));
  const hits = await mapConcurrent(queries, CONNECTIONS, ({ space, filter }) =>
    queryVectors(space, indexId, vector, SEARCH.maxCandidates, filter),
  );
  return hits.flat().toSorted((a, b) => b.cosine - a.cosine);
}
