import type { AssetId } from "../ids.ts";
import type { Asset } from "../types.ts";
import { mirrorAsset } from "./mirror.ts";

/**
 * Marks an asset as deleted, before any of its content is. No search finds it any more once this
 * resolves. Code that writes content outside the asset's rows checks `isAssetLive` afterwards, and
 * deletes what it wrote. Throws `upstream_unavailable`; then the sweep hides it from searches.
 */
export async function softDeleteAsset(
  env: Pick<Env, "DB" | "INDEX_DATABASE">,
  asset: Pick<Asset, "indexId" | "assetId">,
  now: number,
): Promise<void> {
  await env.DB.prepare("UPDATE assets SET deleted_at = ? WHERE asset_id = ? AND deleted_at IS NULL")
    .bind(now, asset.assetId)
    .run();
  await mirrorAsset(env, asset);
}

/** Whether an asset exists and isn't being deleted. */
export async function isAssetLive(db: D1Database, assetId: AssetId): Promise<boolean> {
  const live = await db
    .prepare("SELECT 1 AS live FROM assets WHERE asset_id = ? AND deleted_at IS NULL")
    .bind(assetId)
    .first<number>("live");
  return live === 1;
}

/** Deletes the row of an asset and its transcript's. */
export async function deleteAssetRow(db: D1Database, assetId: AssetId): Promise<void> {
  await db.batch([
    db.prepare("DELETE FROM transcripts WHERE asset_id = ?").bind(assetId),
    db.prepare("DELETE FROM assets WHERE asset_id = ?").bind(assetId),
  ]);
}
