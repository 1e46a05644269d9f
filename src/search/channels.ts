import { CONNECTIONS, mapConcurrent } from "../concurrency.ts";
import { LIMITS, SEARCH } from "../config.ts";
import { AppError, traceOf } from "../errors.ts";
import { ignoreUntilAwaited } from "../ignored-errors.ts";
import { remember } from "../isolate-memory.ts";
import { inGroups } from "../lists.ts";
import { log } from "../log.ts";
import { LruCache } from "../lru-cache.ts";
import { embedInImageSpace, hasImageEmbeddings, embedText } from "../models/embed.ts";
import { type AssetScope, selectsAssets } from "../store/index-database/asset-scope.ts";
import { listScope } from "../store/index-database/find-segments.ts";
import type { IndexDb } from "../store/index-database/index-database.ts";
import { vectorPairs } from "../store/vectorize/vector-pairs.ts";
import { queryVectors, type VectorHit } from "../store/vectorize/vectors.ts";
import type { Timings } from "../timings.ts";
import {
  ASSET_KINDS,
  type AssetKind,
  IMAGE_VECTOR_KINDS,
  type IndexRef,
  TEXT_KINDS,
  type VectorKind,
} from "../types.ts";
import { type ChannelHit, vectorEvidence } from "./evidence.ts";
import { type Feedback, meanDirection, refineVector } from "./example.ts";
import { IndexGroup, listIndices, type SearchTarget, targetDatabases } from "./index-group.ts";
import type { CompiledQuery, CopyMatch } from "./query.ts";
import type { SearchScope } from "./request.ts";

/** A direction that a channel searched in, to compare segments with that it didn't return. */
export interface SearchedVector {
  space: "text" | "image";
  values: number[];
  /** Added to each cosine, to move it to the range of the unrefined query's. */
  offset: number;
  /** Mean of the cosines of the nearest, with the offset. */
  mean: number;
}

interface ChannelHits {
  hits: ChannelHit[];
  searched: SearchedVector[];
  /** Every channel returned fewer hits than requested: a deeper search finds nothing new. */
  isExhaustive: boolean;
  /** Why a channel is missing, if there is no text to search for; else null. */
  outage: AppError | null;
}

interface ChannelsInput {
  scope: SearchScope;
  query: CompiledQuery;
  feedback: Feedback;
  depth: number;
  /** What an earlier pass in more assets searched: its means count, so that scores compare. */
  searched?: readonly SearchedVector[];
}

/**
 * Queries all channels but the full text that the query has input for, concurrently, each for at
 * least `depth` segments. A channel whose model or index is unavailable returns no hits.
 */
export async function queryChannels(
  env: Env,
  target: SearchTarget,
  input: ChannelsInput,
  { time }: Timings,
): Promise<ChannelHits> {
  const { scope, query, feedback, depth } = input;
  const { plainText, example } = query;
  const assetGroups = groupTargetAssets(env, target, scope.assets);
  assetGroups.catch(ignoreUntilAwaited); // by a channel, if any gets that far
  const searched: SearchedVector[] = [];
  const searchVectors = async (space: "text" | "image", vector: number[]) => {
    const groups = await assetGroups;
    const nearest = (toVector: number[], hitCount: number) =>
      searchTarget(env, target, { space, scope, vector: toVector, count: hitCount }, groups);
    return time("knn", async () => {
      const refined = refineVector(vector, feedback[space], feedback.weights);
      const [hits, unrefined] = await Promise.all([
        nearest(refined, depth),
        space === "text" || refined === vector ? null : nearest(vector, SEARCH.maxCandidates),
      ]);
      // Images are nearer to images than to words.
      const offset = unrefined ? meanCosine(unrefined) - meanCosine(hits) : 0;
      const moved = hits.map((hit) => ({ ...hit, cosine: hit.cosine + offset }));
      const known = input.searched?.find((vectors) => vectors.space === space);
      const mean = known?.mean ?? meanCosine(moved);
      if (hits.length > 0) searched.push({ space, values: refined, offset, mean });
      return toVectorHits(space, moved, mean);
    });
  };

  const outages = example?.outage ? [example.outage] : [];
  const searchBy = async (
    channel: string,
    space: "text" | "image",
    toVector: () => Promise<number[] | null>,
  ): Promise<ChannelHit[]> => {
    const hits = await tryChannel(channel, async () => {
      const vector = await toVector();
      return vector ? searchVectors(space, vector) : [];
    });
    if (!(hits instanceof AppError)) return hits;
    outages.push(hits);
    return [];
  };
  const embed = (space: "text" | "image") => time("embed", () => embedQuery(env, space, plainText));
  const { textVector = null, imageVector = null, copies } = example ?? {};
  const useImages = scope.useImageVectors && hasImageEmbeddings(env);
  const byImage = async () => {
    const vectors = [plainText ? await embed("image") : null, imageVector];
    return vectors.some(Boolean) ? meanDirection(vectors) : null;
  };
  const none = Promise.resolve<ChannelHit[]>([]);
  const hits = await Promise.all([
    plainText && scope.textKinds.length > 0
      ? searchBy("text_vectors", "text", () => embed("text"))
      : none,
    Promise.resolve(copies?.map(toCopyHit) ?? []),
    textVector ? searchBy("text_vectors", "text", async () => textVector) : none,
    useImages && (plainText || imageVector) ? searchBy("image_vectors", "image", byImage) : none,
  ]);
  return {
    hits: hits.flat(),
    searched,
    isExhaustive: hits.every(({ length }) => length < depth),
    outage: plainText ? null : (outages[0] ?? null),
  };
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
function meanCosine(hits: readonly { cosine: number }[]): number {
  const nearest = hits.slice(0, SEARCH.maxCandidates);
  return nearest.reduce((sum, { cosine }) => sum + cosine, 0) / nearest.length;
}

function toCopyHit({ segmentId, similarity, timeRange }: CopyMatch): ChannelHit {
  return {
    segmentId,
    signals: { copy_similarity: similarity },
    evidence: { kind: "visual", score: similarity },
    timeRange,
  };
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

/** Queries repeat: while someone types, and on every page. */
const embeddings = {
  text: remember(new LruCache<number[] | null>(SEARCH.cachedQueryCount)),
  image: remember(new LruCache<number[] | null>(SEARCH.cachedQueryCount)),
};
/** A character of private use, which no vocabulary has. */
const UNKNOWN_WORD = "\uE000";
/** Cosine from which two vectors are one. */
const SAME = 0.9999;

/**
 * Embeds a query, as texts or as images are; null if the model knows none of its words. Its vector
 * is then that of unknown words, which says nothing about it. Every model knows Latin letters and
 * digits.
 */
function embedQuery(env: Env, space: "text" | "image", query: string): Promise<number[] | null> {
  const { TEXT_EMBEDDINGS_MODEL, IMAGE_EMBEDDINGS_URL, IMAGE_EMBEDDINGS_MODEL } = env;
  const isText = space === "text";
  const model = isText
    ? TEXT_EMBEDDINGS_MODEL
    : `${IMAGE_EMBEDDINGS_URL} ${IMAGE_EMBEDDINGS_MODEL}`;
  return embeddings[space].get(`${model} ${query}`, async () => {
    const unknown = query.replaceAll(/[\p{L}\p{M}\p{N}]+/gu, UNKNOWN_WORD);
    const texts = /[a-z0-9]/i.test(query) ? [query] : [query, unknown];
    const inputs = texts.map((text) => ({ text }));
    const [vector, unknownVector] = isText
      ? await embedText(env.AI, texts)
      : (await embedInImageSpace(env, inputs)).vectors;
    return unknownVector && areEqualVectors(vector!, unknownVector) ? null : vector!;
  });
}

/** Tests whether two vectors have one direction, but for rounding. */
function areEqualVectors(a: readonly number[], b: readonly number[]): boolean {
  const dot = a.reduce((sum, value, i) => sum + value * b[i]!, 0);
  return dot / (Math.hypot(...a) * Math.hypot(...b)) >= SAME;
}

/** A search for the vectors of one space that are nearest to one. */
interface SpaceQuery {
  space: "text" | "image";
  scope: SearchScope;
  /** Asset ids to filter by; null for the whole index. */
  groups: AssetGroups;
  vector: number[];
  count: number;
}

/** Searches the vectors of all indices of a target, best first. */
async function searchTarget(
  env: Env,
  target: SearchTarget,
  query: Omit<SpaceQuery, "groups">,
  groups: readonly AssetGroups[],
): Promise<VectorHit[]> {
  if (!(target instanceof IndexGroup)) {
    return searchKnn(env, target, { ...query, groups: groups[0]! });
  }
  const searches = target.indices.map((index, i) =>
    target.queryVectors(index.indexId, () =>
      searchKnn(env, index, { ...query, groups: groups[i]! }),
    ),
  );
  const hits = (await Promise.all(searches)).flatMap((found) => found ?? []);
  return hits.toSorted((a, b) => b.cosine - a.cosine).slice(0, query.count);
}

function groupTargetAssets(
  env: Env,
  target: SearchTarget,
  scope: AssetScope,
): Promise<AssetGroups[]> {
  const databases = Map.groupBy(targetDatabases(env, target), ({ indexId }) => indexId);
  return Promise.all(
    listIndices(target).map(({ indexId }) => groupAssetIds(databases.get(indexId) ?? [], scope)),
  );
}

/** Ids of assets in groups that fit into a filter; null for all assets. */
type AssetGroups = string[][] | null;

/** Asset ids per filter: Vectorize takes a filter of 2 kB. */
const IDS_PER_FILTER = 40;

/**
 * Lists the assets of a scope with ids or conditions, in groups that fit into a filter. Null if the
 * scope has neither, or more than `LIMITS.assetIdCount` assets.
 */
async function groupAssetIds(
  databases: readonly IndexDb[],
  scope: AssetScope,
): Promise<AssetGroups> {
  if (!selectsAssets(scope)) return null;
  const ids = await listScope(databases, scope, LIMITS.assetIdCount + 1);
  if (ids.length > LIMITS.assetIdCount) return null;
  return inGroups(ids, IDS_PER_FILTER);
}

/**
 * Returns the vectors of an index that are nearest to a query vector, best first. A Vectorize
 * query returns 100: for a larger `count`, each kind of vector and each kind of asset is queried
 * separately, which may still return fewer. Conditions that all vectors meet are left out, such as
 * the whole of `allKinds`: Vectorize would evaluate them for each vector.
 */
async function searchKnn(env: Env, index: IndexRef, query: SpaceQuery): Promise<VectorHit[]> {
  const { space, groups, vector, count } = query;
  const { assets: scope, textKinds } = query.scope;
  const allKinds: readonly VectorKind[] = space === "text" ? TEXT_KINDS : IMAGE_VECTOR_KINDS;
  const kinds = space === "text" ? textKinds : allKinds;
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
  const queries = vectorPairs(env, index).flatMap((pair) =>
    filters.map((filter) => ({ vectors: pair[space], filter })),
  );
  const hits = await mapConcurrent(queries, CONNECTIONS, ({ vectors, filter }) =>
    queryVectors(vectors, index.indexId, vector, SEARCH.maxCandidates, filter),
  );
  return hits.flat().toSorted((a, b) => b.cosine - a.cosine);
}
