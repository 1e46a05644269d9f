import type { AssetId } from "../ids.ts";

/**
 * Marks an asset as deleted, before any of its content is. No search finds it any more. Code that
 * writes content outside the asset's rows checks `isAssetLive` afterwards, and deletes what it
 * wrote.
 */
export async function softDeleteAsset(
  db: D1Database,
  assetId: AssetId,
  now: number,
): Promise<void> {
  await db
    .prepare("UPDATE assets SET deleted_at = ? WHERE asset_id = ? AND deleted_at IS NULL")
    .bind(now, assetId)
    .run();
}

/** Whether an asset exists and isn't being deleted. */
export async function isAssetLive(db: D1Database, assetId: AssetId): Promise<boolean> {
  const live = await db
    .prepare("SELECT 1 AS live FROM assets WHERE asset_id = ? AND deleted_at IS NULL")
    .bind(assetId)
    .first<number>("live");
  return live === 1;
}

/** Deletes the row of an asset and all rows that belong to it. */
export async function deleteAssetRow(db: D1Database, assetId: AssetId): Promise<void> {
  await db.batch([
    db.prepare("DELETE FROM segments WHERE asset_id = ?").bind(assetId),
    db.prepare("DELETE FROM reference_frames WHERE asset_id = ?").bind(assetId),
    db.prepare("DELETE FROM transcripts WHERE asset_id = ?").bind(assetId),
    db.prepare("DELETE FROM assets WHERE asset_id = ?").bind(assetId),
  ]);
}
