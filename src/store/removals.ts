import type { AssetId } from "../ids.ts";

/**
 * Notes that an asset is being removed, before anything of it is. No search finds it any more; whoever writes
 * something for it that its row doesn't take along asks `isWanted` afterwards, and takes it back.
 */
export async function beginRemoval(db: D1Database, assetId: AssetId, now: number): Promise<void> {
  await db
    .prepare("UPDATE assets SET deleted_at = ? WHERE asset_id = ? AND deleted_at IS NULL")
    .bind(now, assetId)
    .run();
}

/** Whether an asset is there, and isn't being removed. */
export async function isWanted(db: D1Database, assetId: AssetId): Promise<boolean> {
  const wanted = await db
    .prepare("SELECT 1 AS wanted FROM assets WHERE asset_id = ? AND deleted_at IS NULL")
    .bind(assetId)
    .first<number>("wanted");
  return wanted === 1;
}

/** Its row goes, and all rows that are of it. */
export async function deleteAssetRow(db: D1Database, assetId: AssetId): Promise<void> {
  await db.batch([
    db.prepare("DELETE FROM segments WHERE asset_id = ?").bind(assetId),
    db.prepare("DELETE FROM stills WHERE asset_id = ?").bind(assetId),
    db.prepare("DELETE FROM transcripts WHERE asset_id = ?").bind(assetId),
    db.prepare("DELETE FROM assets WHERE asset_id = ?").bind(assetId),
  ]);
}
