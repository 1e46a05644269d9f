import type { AssetId } from "../ids.ts";

/** Whether a traversal has begun an asset's ingest again already. */
export async function wasRestarted(db: D1Database, assetId: AssetId): Promise<boolean> {
  const at = await db
    .prepare("SELECT restarted_at AS at FROM assets WHERE asset_id = ?")
    .bind(assetId)
    .first<number>("at");
  return at !== null;
}

export async function noteRestart(db: D1Database, assetId: AssetId, now: number): Promise<void> {
  await db
    .prepare("UPDATE assets SET restarted_at = ? WHERE asset_id = ?")
    .bind(now, assetId)
    .run();
}

/** As many segments as there are. */
export async function recountSegments(db: D1Database, assetId: AssetId): Promise<void> {
  await db
    .prepare(
      `UPDATE assets SET segments = (SELECT COUNT(*) FROM segments WHERE segments.asset_id = assets.asset_id)
       WHERE asset_id = ?`,
    )
    .bind(assetId)
    .run();
}
