import type { Failure } from "../errors.ts";
import type { AssetRef, AssetState, JsonObject } from "../types.ts";
import { QuotaGuard, recordBytes } from "./d1/quotas.ts";
import type { Databases } from "./index-database/index-database.ts";
import { mirrorAsset, type MirroredAsset } from "./mirror.ts";
import { batch, run, sql } from "./sql.ts";

export interface AssetStateUpdate {
  state: AssetState;
  /** Null keeps the stored progress. */
  progress: number | null;
  error: Failure | null;
  revision: number;
}

/**
 * Writes the state of an index's object at `revision`, and makes the asset searchable or not.
 * Ignores revisions older than the stored one. An asset becomes searchable before its state says
 * that it is ready: whoever reads the state may search at once. Throws what `mirrorAsset` throws.
 */
export async function writeAssetState(
  env: Databases,
  asset: MirroredAsset,
  { state, progress, error, revision }: AssetStateUpdate,
): Promise<void> {
  const { assetId } = asset;
  const now = Date.now();
  const isNewer = sql`asset_id = ${assetId} AND revision < ${revision}`;
  if (state === "ready") {
    const makeSearchable = sql`UPDATE assets SET searchable = 1,
      ready_at = COALESCE(ready_at, ${now}) WHERE ${isNewer}`;
    await run(env.DB, makeSearchable);
    await mirrorAsset(env, asset);
  }
  const [, mirrored] = await batch<{ isOutdated: number }>(env.DB, [
    sql`UPDATE assets SET state = ${state}, searchable = ${Number(state === "ready")},
          progress = COALESCE(${progress}, progress), error = ${error && JSON.stringify(error)},
          revision = ${revision}, updated_at = ${now}
        WHERE ${isNewer}`,
    sql`SELECT mirrored_revision < facts_revision AS isOutdated
        FROM assets WHERE asset_id = ${assetId}`,
  ]);
  if (mirrored!.results[0]?.isOutdated) await mirrorAsset(env, asset);
}

/** Fields of an asset that a user can change. An undefined field keeps its value. */
export interface AssetChange {
  title?: string | undefined;
  metadata?: JsonObject | undefined;
}

/**
 * Changes an asset, in searches, too. Throws what `mirrorAsset` throws, and `account_full` if the
 * account has no room for longer texts.
 */
export async function updateAsset(
  env: Databases,
  asset: AssetRef,
  change: AssetChange,
  now: number,
): Promise<void> {
  const texts = {
    title: change.title,
    metadata: change.metadata && JSON.stringify(change.metadata),
  };
  const quota = new QuotaGuard(asset.accountId, recordBytes(texts.title, texts.metadata));
  const changed = sql`UPDATE assets SET title = COALESCE(${texts.title ?? null}, title),
      metadata = COALESCE(${texts.metadata ?? null}, metadata), updated_at = ${now}
    WHERE asset_id = ${asset.assetId} AND ${quota.replaceCondition(texts)}`;
  const statements = [changed, quota.usageStatement];
  const [updated, usage] = await batch(env.DB, statements);
  if (updated!.meta.changes === 0) quota.throwIfExceeded(usage!.results[0]);
  await mirrorAsset(env, asset);
}
