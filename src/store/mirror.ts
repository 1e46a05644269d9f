import type { AssetId } from "../ids.ts";
import type { Asset, ContentRef } from "../types.ts";
import { type Databases, indexDatabase, type IndexDb } from "./index-database/index-database.ts";
import { listMissingAssets } from "./orphans.ts";
import { all, first, IN_TURN, inChunks, inList, raw, run, sql, type SqlFragment } from "./sql.ts";

/** An asset whose facts are copied. */
export type MirroredAsset = Pick<Asset, "indexId" | "assetId">;

/**
 * What a search needs of an asset. D1 has these facts and counts their changes; the index's
 * database has a copy. `mirrorAsset` follows every change in D1. The sweep and traversals resume
 * what was cut off between the two.
 */
const FACT_COLUMNS = `asset_id, asset_type, title, metadata, technical, duration_ms, created_at,
  searchable_at, deleted_at, facts_revision`;
type Facts = Record<string, string | number | null> & { facts_revision: number };

type RecordedFacts = Facts & { shard: number };

const factsOf = (assetIds: AssetId[], otherColumns = ""): SqlFragment =>
  sql`SELECT ${raw(FACT_COLUMNS + otherColumns)} FROM assets WHERE asset_id ${inList(assetIds)}`;

/** Copies an asset's facts: `mirrorAssets`. */
export async function mirrorAsset(env: Databases, asset: MirroredAsset): Promise<void> {
  await mirrorAssets(env, [asset]);
}

/**
 * Copies the facts of assets of one index from D1 to the index's databases, which ignore older ones
 * than they have. Leaves out assets that are gone. Throws `upstream_unavailable`.
 */
export async function mirrorAssets(env: Databases, assets: MirroredAsset[]): Promise<void> {
  const ids = assets.map(({ assetId }) => assetId);
  const results = await all<RecordedFacts>(env.DB, factsOf(ids, ", shard"));
  if (results.length === 0) return;
  const { indexId } = assets[0]!;
  for (const [shard, recorded] of Map.groupBy(results, (facts) => facts.shard)) {
    const facts = recorded.map((each) => Object.values(each).slice(0, -1)); // without the shard
    await indexDatabase(env, { indexId, shard }).batch(inChunks(facts).map(putFacts));
  }
  const revisions = results.map(({ asset_id, facts_revision }) => [asset_id, facts_revision]);
  const mirrored = sql`UPDATE assets SET mirrored_revision = value ->> 1
    FROM json_each(${JSON.stringify(revisions)})
    WHERE asset_id = value ->> 0 AND mirrored_revision < value ->> 1`;
  await run(env.DB, mirrored);
}

/** Writes facts that are newer than the stored: JSON arrays in the order of `FACT_COLUMNS`. */
function putFacts(values: string): SqlFragment {
  return sql`INSERT INTO assets (${raw(FACT_COLUMNS)})
      SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
        value ->> 6, value ->> 7, value ->> 8, value ->> 9
      FROM json_each(${values}) WHERE true
      ON CONFLICT (asset_id) DO UPDATE SET title = excluded.title, metadata = excluded.metadata,
        technical = excluded.technical, duration_ms = excluded.duration_ms,
        created_at = excluded.created_at, searchable_at = excluded.searchable_at,
        deleted_at = excluded.deleted_at, facts_revision = excluded.facts_revision
      WHERE excluded.facts_revision > assets.facts_revision`;
}

/** Lists, in turn, assets whose last change, before `before`, their index's database lacks. */
export async function listUnmirroredAssets(
  db: D1Database,
  before: number,
  limit: number,
): Promise<MirroredAsset[]> {
  const unmirrored = sql`SELECT index_id AS indexId, asset_id AS assetId FROM assets
    WHERE mirrored_revision < facts_revision AND updated_at < ${before}
    ${IN_TURN} LIMIT ${limit}`;
  return all<MirroredAsset>(db, unmirrored);
}

/** Whether an index's database has the present facts of an asset that is or was searchable. */
export async function hasPresentFacts(env: Databases, asset: ContentRef): Promise<boolean> {
  const [facts, copy] = await Promise.all([
    first<Facts>(env.DB, factsOf([asset.assetId])),
    indexDatabase(env, asset).first<Facts>(factsOf([asset.assetId])),
  ]);
  const isMirrored = facts !== null && facts.facts_revision > 0; // from when it was searchable
  return !isMirrored || JSON.stringify(facts) === JSON.stringify(copy);
}

/** Overwrites the copy of an asset's facts, whatever its revision says. */
export async function restoreFacts(env: Databases, asset: ContentRef): Promise<void> {
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

/** Copies the facts of an asset that isn't searchable yet, so that scopes can be tested with it. */
export async function mirrorNewAsset(env: Databases, asset: ContentRef): Promise<void> {
  const facts = await first<Facts>(env.DB, factsOf([asset.assetId]));
  if (!facts) return;
  const { title, metadata, technical, duration_ms, created_at } = facts;
  await indexDatabase(env, asset).batch([
    sql`UPDATE assets SET title = ${title!}, metadata = ${metadata!}, technical = ${technical!},
        duration_ms = ${duration_ms!}, created_at = ${created_at!}
      WHERE asset_id = ${asset.assetId} AND searchable_at IS NULL AND deleted_at IS NULL`,
  ]);
}
