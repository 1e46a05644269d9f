import { CONNECTIONS, mapConcurrent } from "../concurrency.ts";
import { LIMITS, SEARCH } from "../config.ts";
import type { IndexId } from "../ids.ts";
import { type AssetScope, selectsAssets } from "../store/index-database/asset-scope.ts";
import { listScope } from "../store/index-database/find-segments.ts";
import { indexDatabases, type IndexDb } from "../store/index-database/index-database.ts";
import { vectorPairs, type VectorSpace } from "../store/vectorize/vector-pairs.ts";
import { queryVectors, type VectorHit } from "../store/vectorize/vectors.ts";
import {
  IMAGE_VECTOR_KINDS,
  type IndexRef,
  ASSET_KINDS,
  type AssetKind,
  TEXT_KINDS,
  type VectorKind,
} from "../types.ts";
import { IndexGroup, type SearchTarget, targetDatabases } from "./index-group.ts";
import type { SearchScope } from "./request.ts";

/** A search for the vectors of one space. */
interface SpaceQuery {
  space: "text" | "image";
  scope: SearchScope;
  groups: AssetGroups;
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

/** Searches the vectors of all indices of a target, best first. */
export async function searchTarget(
  env: Env,
  target: SearchTarget,
  query: Omit<SpaceQuery, "groups">,
  groups: readonly AssetGroups[],
): Promise<VectorHit[]> {
  if (!(target instanceof IndexGroup)) {
    return searchSpace(env, target, { ...query, groups: groups[0]! });
  }
  const hits = await Promise.all(
    target.indices.map((index, i) =>
      target.queryVectors(index.indexId, () =>
        searchSpace(env, index, { ...query, groups: groups[i]! }),
      ),
    ),
  );
  const nearest = hits.flatMap((found) => found ?? []).toSorted((a, b) => b.cosine - a.cosine);
  return nearest.slice(0, query.count);
}

/** Groups the assets in scope of each index of a target. */
export async function groupTargetAssets(
  env: Env,
  target: SearchTarget,
  scope: AssetScope,
): Promise<AssetGroups[]> {
  if (!(target instanceof IndexGroup)) {
    return [await groupAssetIds(indexDatabases(env, target), scope)];
  }
  return Promise.all(
    target.indices.map(({ indexId }) => {
      const databases = targetDatabases(env, target).filter((db) => db.indexId === indexId);
      return groupAssetIds(databases, scope);
    }),
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
