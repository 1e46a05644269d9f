import type { Failure } from "../errors.ts";
import type { Asset, AssetState, JsonObject } from "../types.ts";
import { mirrorAsset } from "./mirror.ts";
import { prepare, sql } from "./sql.ts";

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
  env: Pick<Env, "DB" | "INDEX_DATABASE">,
  asset: Pick<Asset, "indexId" | "assetId">,
  { state, progress, error, revision }: AssetStateUpdate,
): Promise<void> {
  const { assetId } = asset;
  const now = Date.now();
  const isNewer = sql`asset_id = ${assetId} AND revision < ${revision}`;
  if (state === "ready") {
    const makeSearchable = sql`UPDATE assets SET searchable = 1,
      ready_at = COALESCE(ready_at, ${now}) WHERE ${isNewer}`;
    await prepare(env.DB, makeSearchable).run();
    await mirrorAsset(env, asset);
  }
  const [, mirrored] = await env.DB.batch<{ isOutdated: number }>([
    prepare(
      env.DB,
      sql`UPDATE assets SET state = ${state}, searchable = ${Number(state === "ready")},
          progress = COALESCE(${progress}, progress), error = ${error && JSON.stringify(error)},
          revision = ${revision}, updated_at = ${now}
        WHERE ${isNewer}`,
    ),
    prepare(
      env.DB,
      sql`SELECT mirrored_revision < facts_revision AS isOutdated
        FROM assets WHERE asset_id = ${assetId}`,
    ),
  ]);
  if (mirrored!.results[0]?.isOutdated) await mirrorAsset(env, asset);
}

/** Fields of an asset that a user can change. An undefined field keeps its value. */
export interface AssetChange {
  title?: string | undefined;
  metadata?: JsonObject | undefined;
}

/** Changes an asset, in searches, too. Throws what `mirrorAsset` throws. */
export async function updateAsset(
  env: Pick<Env, "DB" | "INDEX_DATABASE">,
  asset: Pick<Asset, "indexId" | "assetId">,
  { title, metadata }: AssetChange,
  now: number,
): Promise<void> {
  const change = sql`UPDATE assets SET title = COALESCE(${title ?? null}, title),
      metadata = COALESCE(${metadata ? JSON.stringify(metadata) : null}, metadata),
      updated_at = ${now}
    WHERE asset_id = ${asset.assetId}`;
  await prepare(env.DB, change).run();
  await mirrorAsset(env, asset);
}
