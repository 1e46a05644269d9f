import { CONNECTIONS, mapAtOnce } from "../at-once.ts";
import { LIMITS, SEARCH } from "../config.ts";
import { type AssetScope, isChosen, listScope } from "../store/asset-scope.ts";
import { queryVectors, type VectorHit } from "../store/vectors.ts";
import type { VectorKind } from "../types.ts";

/** Vectorize takes a filter of 2 kB: so many ids fit. */
const FILTER_IDS = 40;

/** Assets by name, in groups that a filter holds; null where there are none, or too many. */
export async function groupAssets(db: D1Database, scope: AssetScope): Promise<string[][] | null> {
  if (!isChosen(scope)) return null;
  const ids = await listScope(db, scope, LIMITS.assetIds + 1);
  if (ids.length > LIMITS.assetIds) return null;
  return Array.from({ length: Math.ceil(ids.length / FILTER_IDS) }, (_, i) =>
    ids.slice(i * FILTER_IDS, (i + 1) * FILTER_IDS),
  );
}

/**
 * The vectors nearest to a query, the best first, at least `count` where there are so many. Vectorize
 * gives 100 a query; for more it is asked for each kind of vector and of asset by itself.
 */
export async function nearest(
  space: VectorizeIndex,
  scope: AssetScope,
  groups: string[][] | null,
  kinds: VectorKind[],
  vector: number[],
  count: number,
): Promise<VectorHit[]> {
  const isDeep = count > SEARCH.maxCandidates;
  const kindSets = isDeep ? kinds.map((kind) => [kind]) : [kinds];
  const typeSets = isDeep ? scope.types.map((type) => [type]) : [scope.types];
  const filters = kindSets.flatMap((kind) =>
    typeSets.flatMap((type) =>
      (groups ?? [null]).map((ids): VectorizeVectorMetadataFilter => {
        const filter = { kind: { $in: [...kind] }, asset_type: { $in: [...type] } };
        if (ids) return Object.assign(filter, { asset_id: { $in: ids } });
        const { exceptAssetId } = scope;
        return exceptAssetId === null
          ? filter
          : Object.assign(filter, { asset_id: { $ne: exceptAssetId } });
      }),
    ),
  );
  const hits = await mapAtOnce(filters, CONNECTIONS, (filter) =>
    queryVectors(space, scope.indexId, vector, SEARCH.maxCandidates, filter),
  );
  return hits.flat().toSorted((a, b) => b.cosine - a.cosine);
}
