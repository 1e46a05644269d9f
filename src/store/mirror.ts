import type { AssetId } from "../ids.ts";
import type { Asset } from "../types.ts";
import { type IndexDb, indexDatabase } from "./index-database.ts";
import { listMissingAssets } from "./orphans.ts";
import { inList, prepare, raw, sql, type SqlFragment } from "./sql.ts";

type Stores = Pick<Env, "DB" | "INDEX_DATABASE">;
type AssetRef = Pick<Asset, "indexId" | "assetId">;
type ContentRef = Pick<Asset, "indexId" | "assetId" | "shard">;

/**
 * What a search needs of an asset. D1 has these facts and counts their changes; the index's
 * database has a copy. `mirrorAsset` follows every change in D1. The sweep and traversals resume
 * what was cut off between the two.
 */
const FACT_COLUMNS = `asset_id, asset_type, title, metadata, duration_ms, created_at,
  searchable_at, deleted_at, facts_revision`;
type Facts = Record<string, string | number | null> & { facts_revision: number };

type RecordedFacts = Facts & { shard: number };

const factsOf = (assetId: AssetId, otherColumns = ""): SqlFragment =>
  sql`SELECT ${raw(FACT_COLUMNS + otherColumns)} FROM assets WHERE asset_id = ${assetId}`;

/**
 * Copies an asset's facts from D1 to its index's database, which ignores older ones than it has.
 * Does nothing if the asset is gone. Throws `upstream_unavailable`.
 */
export async function mirrorAsset(env: Stores, asset: AssetRef): Promise<void> {
  const { indexId, assetId } = asset;
  const recorded = await prepare(env.DB, factsOf(assetId, ", shard")).first<RecordedFacts>();
  if (!recorded) return;
  const { shard, ...facts } = recorded;
  const values = JSON.stringify(Object.values(facts));
  await indexDatabase(env, { indexId, shard }).batch([
    sql`INSERT INTO assets (${raw(FACT_COLUMNS)})
      SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
        value ->> 6, value ->> 7, value ->> 8
      FROM json_each(${`[${values}]`}) WHERE true
      ON CONFLICT (asset_id) DO UPDATE SET title = excluded.title, metadata = excluded.metadata,
        duration_ms = excluded.duration_ms, created_at = excluded.created_at,
        searchable_at = excluded.searchable_at, deleted_at = excluded.deleted_at,
        facts_revision = excluded.facts_revision
      WHERE excluded.facts_revision > assets.facts_revision`,
  ]);
  const mirrored = sql`UPDATE assets SET mirrored_revision = ${facts.facts_revision}
    WHERE asset_id = ${assetId} AND mirrored_revision < ${facts.facts_revision}`;
  await prepare(env.DB, mirrored).run();
}

/** Lists assets whose last change, before `before`, hasn't reached their index's database. */
export async function listUnmirroredAssets(
  db: D1Database,
  before: number,
  limit: number,
): Promise<AssetRef[]> {
  const unmirrored = sql`SELECT index_id AS indexId, asset_id AS assetId FROM assets
    WHERE mirrored_revision < facts_revision AND updated_at < ${before}
    ORDER BY updated_at DESC LIMIT ${limit}`;
  return (await prepare(db, unmirrored).all<AssetRef>()).results;
}

/** Whether an index's database has the present facts of an asset that is or was searchable. */
export async function hasPresentFacts(env: Stores, asset: ContentRef): Promise<boolean> {
  const [facts, copy] = await Promise.all([
    prepare(env.DB, factsOf(asset.assetId)).first<Facts>(),
    indexDatabase(env, asset).first<Facts>(factsOf(asset.assetId)),
  ]);
  const isMirrored = facts !== null && facts.facts_revision > 0; // from when it was searchable
  return !isMirrored || JSON.stringify(facts) === JSON.stringify(copy);
}

/** Overwrites the copy of an asset's facts, whatever its revision says. */
export async function restoreFacts(env: Stores, asset: ContentRef): Promise<void> {
  const reset = sql`UPDATE assets SET facts_revision = -1 WHERE asset_id = ${asset.assetId}`;
  await indexDatabase(env, asset).batch([reset]);
  await mirrorAsset(env, asset);
}

const PAGE = 1000;

/** Lists the assets that an index's database has content of, and that D1 doesn't have. */
export async function listOrphanAssets(db: D1Database, index: IndexDb): Promise<AssetId[]> {
  const orphans: AssetId[] = [];
  for (let after = 0; ;) {
    const page = await index.all<{ assetKey: number; assetId: AssetId }>(
      sql`SELECT asset_key AS assetKey, asset_id AS assetId FROM assets
        WHERE asset_key > ${after} AND (deleted_at IS NULL
          OR EXISTS (SELECT 1 FROM segments WHERE segments.asset_key = assets.asset_key))
        ORDER BY asset_key LIMIT ${PAGE}`,
    );
    const ids = page.map(({ assetId }) => assetId);
    orphans.push(...(await listMissingAssets(db, index.indexId, ids)));
    if (page.length < PAGE) return orphans;
    after = page.at(-1)!.assetKey;
  }
}

/**
 * Deletes an asset in an index's database, where no search finds it and no ingest adds to it any
 * more. Its segments are left to `deleteSegments`.
 */
export async function markDeleted(index: IndexDb, assetId: AssetId, now: number): Promise<void> {
  await index.batch([
    sql`UPDATE assets SET deleted_at = ${now}, searchable_at = NULL WHERE asset_id = ${assetId}`,
  ]);
}

/**
 * Lets an asset be added to an index's database whose id a completed deletion used. The mark of the
 * deletion would refuse its content.
 */
export async function clearDeletion(index: IndexDb, assetId: AssetId): Promise<void> {
  await index.batch([
    sql`DELETE FROM assets WHERE asset_id = ${assetId} AND deleted_at IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM segments WHERE segments.asset_key = assets.asset_key)`,
  ]);
}

/** Lists the ids that an index's database knows to be deleted. It does for a day. */
export async function listDeleted(index: IndexDb, assetIds: AssetId[]): Promise<AssetId[]> {
  const rows = await index.all<{ assetId: AssetId }>(
    sql`SELECT asset_id AS assetId FROM assets
      WHERE asset_id ${inList(assetIds)} AND deleted_at IS NOT NULL`,
  );
  return rows.map(({ assetId }) => assetId);
}

/** Deletes what is left of assets that were deleted before `before`. */
export async function pruneDeleted(index: IndexDb, before: number): Promise<void> {
  await index.batch([
    sql`DELETE FROM assets WHERE deleted_at < ${before}
      AND NOT EXISTS (SELECT 1 FROM segments WHERE segments.asset_key = assets.asset_key)`,
  ]);
}
