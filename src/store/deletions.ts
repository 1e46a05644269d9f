import type { AssetId, IndexId } from "../ids.ts";
import type { ContentRef } from "../types.ts";
import { releaseAllStatement } from "./d1/object-bytes.ts";
import type { Databases } from "./index-database/index-database.ts";
import { mirrorAssets, type MirroredAsset } from "./mirror.ts";
import { all, batch, firstValue, inList, run, sql } from "./sql.ts";

/**
 * Marks assets of one index as deleted, before any of their content is. No search finds them any
 * more once this resolves. Code that writes content outside an asset's rows checks `isAssetLive`
 * afterwards, and deletes what it wrote. Throws `upstream_unavailable`; then the sweep hides them
 * from searches.
 */
export async function softDeleteAssets(
  env: Databases,
  assets: MirroredAsset[],
  now: number,
): Promise<void> {
  const deleted = sql`UPDATE assets SET deleted_at = ${now}
    WHERE asset_id ${inList(idsOf(assets))} AND deleted_at IS NULL`;
  await run(env.DB, deleted);
  await mirrorAssets(env, assets);
}

/** Whether an asset exists and isn't being deleted. */
export async function isAssetLive(db: D1Database, assetId: AssetId): Promise<boolean> {
  const live = await firstValue<number>(
    db,
    sql`SELECT 1 AS live FROM assets WHERE asset_id = ${assetId} AND deleted_at IS NULL`,
  );
  return live === 1;
}

/** Deletes the rows of assets and their transcripts', and ends the charges of their objects. */
export async function deleteAssetRows(db: D1Database, assets: MirroredAsset[]): Promise<void> {
  const ids = inList(idsOf(assets));
  await batch(db, [
    sql`DELETE FROM transcripts WHERE asset_id ${ids}`,
    sql`DELETE FROM assets WHERE asset_id ${ids}`,
    releaseAllStatement(idsOf(assets)),
  ]);
}

function idsOf(assets: MirroredAsset[]): AssetId[] {
  return assets.map(({ assetId }) => assetId);
}

/** Lists the content of the first `limit` assets of an index. */
export async function listContentRefs(
  db: D1Database,
  indexId: IndexId,
  limit: number,
): Promise<ContentRef[]> {
  return all<ContentRef>(
    db,
    sql`SELECT account_id AS accountId, index_id AS indexId, asset_id AS assetId, shard,
        vector_pair AS vectorPair
      FROM assets JOIN shards USING (index_id, shard)
      WHERE index_id = ${indexId} ORDER BY asset_id LIMIT ${limit}`,
  );
}
