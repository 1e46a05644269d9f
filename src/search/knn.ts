import { CONNECTIONS, mapConcurrent } from "../concurrency.ts";
import { LIMITS, SEARCH } from "../config.ts";
import type { IndexId } from "../ids.ts";
import { listScope } from "../store/find-segments.ts";
import type { IndexDb } from "../store/index-database.ts";
import { type AssetScope, selectsAssets } from "../store/asset-scope.ts";
import { queryVectors, type VectorHit } from "../store/vectors.ts";
import { ASSET_TYPES, type AssetType, type VectorKind } from "../types.ts";

/** Asset ids per filter: Vectorize takes a filter of 2 kB. */
const IDS_PER_FILTER = 40;

/**
 * Lists the assets of a scope with ids or conditions, in groups that fit into a filter. Null if the
 * scope has neither, or more than `LIMITS.assetIdCount` assets.
 */
export async function groupAssetIds(
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

/**
 * Returns the vectors of some Vectorize indexes that are nearest to a query vector, best first. A
 * query returns 100: for a larger `count`, each kind of vector and each type of asset is queried
 * separately, which may still return fewer. `groups` are the asset ids to filter by; null for the
 * whole index. Conditions that all vectors meet are left out, such as the whole of `allKinds`:
 * Vectorize would evaluate them for each vector.
 */
export async function searchKnn(
  spaces: VectorizeIndex[],
  indexId: IndexId,
  scope: AssetScope,
  groups: string[][] | null,
  kinds: readonly VectorKind[],
  allKinds: readonly VectorKind[],
  vector: number[],
  count: number,
): Promise<VectorHit[]> {
  const isDeep = count > SEARCH.maxCandidates;
  const kindSets = isDeep ? kinds.map((kind) => [kind]) : [kinds];
  const typeSets = isDeep ? scope.types.map((type) => [type]) : [scope.types];
  const toFilter = (
    kind: readonly VectorKind[],
    type: readonly AssetType[],
    ids: string[] | null,
  ): VectorizeVectorMetadataFilter => ({
    ...(kind.length < allKinds.length && { kind: { $in: [...kind] } }),
    ...(type.length < ASSET_TYPES.length && { asset_type: { $in: [...type] } }),
    ...(scope.exceptAssetId !== null && { asset_id: { $ne: scope.exceptAssetId } }),
    ...(ids && { asset_id: { $in: ids } }),
  });
  const filters = kindSets.flatMap((kind) =>
    typeSets.flatMap((type) => (groups ?? [null]).map((ids) => toFilter(kind, type, ids))),
  );
  const queries = spaces.flatMap((space) => filters.map((filter) => ({ space, filter })));
  const hits = await mapConcurrent(queries, CONNECTIONS, ({ space, filter }) =>
    queryVectors(space, indexId, vector, SEARCH.maxCandidates, filter),
  );
  return hits.flat().toSorted((a, b) => b.cosine - a.cosine);
}

/** Returns the direction of the mean of unit vectors, as for "this, but at night". Skips nulls. */
export function meanDirection(vectors: (number[] | null)[]): number[] {
  const units = vectors.flatMap((vector) => {
    const length = vector && Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
    return vector && length ? [vector.map((value) => value / length)] : [];
  });
  const [first = [], ...rest] = units;
  return first.map((value, i) => rest.reduce((sum, unit) => sum + unit[i]!, value));
}
