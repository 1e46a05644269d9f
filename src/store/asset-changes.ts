import type { AssetId, IndexId } from "../ids.ts";
import { append } from "../lists.ts";
import { normalizeText } from "../normalize-text.ts";
import type { Asset, AssetRef, ContentRef, JsonObject } from "../types.ts";
import { isObject } from "../user-metadata.ts";
import { releaseAllBytes, QuotaGuard, recordBytes } from "./d1/quotas.ts";
import { type Databases, type IndexDb, indexDatabase } from "./index-database/index-database.ts";
import {
  IN_TURN,
  type SqlFragment,
  assignments,
  batch,
  inChunks,
  inList,
  raw,
  sql,
  whereMissing,
  d1,
} from "./sql.ts";

export type MirroredAsset = Pick<Asset, "indexId" | "assetId">;

/**
 * What a search needs of an asset. D1 has these facts and counts their changes; the index's
 * database has a copy. `mirrorAsset` follows every change in D1. The sweep and traversals resume
 * what was cut off between the two.
 */
const FACT_COLUMNS = `asset_id, asset_type, title, metadata, technical, duration_ms, created_at,
  searchable_at, deleted_at, facts_revision`;
type Facts = Record<string, string | number | null> & { facts_revision: number };

const factsOf = (assetIds: AssetId[], otherColumns = ""): SqlFragment =>
  sql`SELECT ${raw(FACT_COLUMNS + otherColumns)} FROM assets WHERE asset_id ${inList(assetIds)}`;

/** Returns facts whose metadata are in NFC: filters compare keys and values in this form. */
function comparable(facts: Facts): Facts {
  const metadata = String(facts.metadata);
  return metadata === normalizeText(metadata, "NFC")
    ? facts
    : { ...facts, metadata: JSON.stringify(toNfc(JSON.parse(metadata))) };
}

function toNfc(value: unknown): unknown {
  if (typeof value === "string") return normalizeText(value, "NFC");
  if (Array.isArray(value)) return value.map(toNfc);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [normalizeText(key, "NFC"), toNfc(one)]),
  );
}

export async function mirrorAsset(env: Databases, asset: MirroredAsset): Promise<void> {
  await mirrorAssets(env, [asset]);
}

/**
 * Copies the facts of assets of one index from D1 to the index's databases, which ignore older ones
 * than they have. Leaves out assets that are gone. Throws `upstream_unavailable`.
 */
async function mirrorAssets(env: Databases, assets: MirroredAsset[]): Promise<void> {
  const ids = assets.map(({ assetId }) => assetId);
  const results = await d1(env.DB).all<Facts & { shard: number }>`${factsOf(ids, ", shard")}`;
  if (results.length === 0) return;
  const { indexId } = assets[0]!;
  for (const [shard, recorded] of Map.groupBy(results, (facts) => facts.shard)) {
    const facts = recorded.map((each) => Object.values(comparable(each)).slice(0, -1)); // no shard
    await indexDatabase(env, { indexId, shard }).batch(inChunks(facts).map(putFacts));
  }
  const revisions = results.map(({ asset_id, facts_revision }) => [asset_id, facts_revision]);
  await d1(env.DB).run`UPDATE assets SET mirrored_revision = value ->> 1
    FROM json_each(${JSON.stringify(revisions)})
    WHERE asset_id = value ->> 0 AND mirrored_revision < value ->> 1`;
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
export async function listUnmirroredAssets(db: D1Database, before: number, limit: number) {
  return d1(db).all<MirroredAsset>`SELECT index_id AS indexId, asset_id AS assetId FROM assets
    WHERE mirrored_revision < facts_revision AND updated_at < ${before}
    ${IN_TURN} LIMIT ${limit}`;
}

/** Whether an index's database has the present facts of an asset that is or was searchable. */
export async function hasPresentFacts(env: Databases, asset: ContentRef): Promise<boolean> {
  const [facts, copy] = await Promise.all([
    d1(env.DB).first<Facts>`${factsOf([asset.assetId])}`,
    indexDatabase(env, asset).first<Facts>(factsOf([asset.assetId])),
  ]);
  const isMirrored = facts !== null && facts.facts_revision > 0; // from when it was searchable
  return !isMirrored || JSON.stringify(comparable(facts)) === JSON.stringify(copy);
}

export async function restoreFacts(env: Databases, asset: ContentRef): Promise<void> {
  const reset = sql`UPDATE assets SET facts_revision = -1 WHERE asset_id = ${asset.assetId}`;
  await indexDatabase(env, asset).batch([reset]);
  await mirrorAsset(env, asset);
}

export async function listMissingAssets(db: D1Database, indexId: IndexId, ids: AssetId[]) {
  const row = sql`SELECT 1 FROM assets WHERE asset_id = value AND index_id = ${indexId}`;
  const rows = await d1(db).all<{ id: AssetId }>`${whereMissing(ids, row)}`;
  return rows.map(({ id }) => id);
}

const PAGE = 1000;

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
    append(orphans, await listMissingAssets(db, index.indexId, ids));
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

export async function pruneDeleted(index: IndexDb, before: number): Promise<void> {
  await index.batch([
    sql`DELETE FROM assets WHERE deleted_at < ${before}
      AND NOT EXISTS (SELECT 1 FROM segments WHERE segments.asset_key = assets.asset_key)`,
  ]);
}

/**
 * Writes the state of an index's object at `revision`, and makes the asset searchable or not.
 * Ignores revisions older than the stored one; a null `progress` keeps the stored one. An asset
 * becomes searchable before its state says that it is ready: whoever reads the state may search at
 * once. Throws what `mirrorAsset` throws.
 */
export async function writeAssetState(
  env: Databases,
  asset: MirroredAsset,
  update: Pick<Asset, "state" | "error"> & { progress: number | null; revision: number },
): Promise<void> {
  const { assetId } = asset;
  const { state, progress, error, revision } = update;
  const now = Date.now();
  const isNewer = sql`asset_id = ${assetId} AND revision < ${revision}`;
  if (state === "ready") {
    await d1(env.DB).run`UPDATE assets SET searchable = 1,
      ready_at = COALESCE(ready_at, ${now}) WHERE ${isNewer}`;
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
  const changed = sql`UPDATE assets SET ${assignments({ ...texts, updatedAt: now })}
    WHERE asset_id = ${asset.assetId} AND ${quota.replaceCondition(texts)}`;
  await quota.write(env.DB, [changed]);
  await mirrorAsset(env, asset);
}

/**
 * Marks assets of one index as deleted, before any of their content is. No search finds them any
 * more once this resolves, and the same file can be added again. Code that writes content outside
 * an asset's rows checks `isAssetLive` afterwards, and deletes what it wrote. Throws
 * `upstream_unavailable`; then the sweep hides them from searches.
 */
export async function softDeleteAssets(env: Databases, assets: MirroredAsset[], now: number) {
  await d1(env.DB).run`UPDATE assets SET deleted_at = ${now}, sha256 = NULL
    WHERE asset_id ${inList(idsOf(assets))} AND deleted_at IS NULL`;
  await mirrorAssets(env, assets);
}

export async function isAssetLive(db: D1Database, assetId: AssetId): Promise<boolean> {
  const live = await d1(db).firstValue<number>`
    SELECT 1 AS live FROM assets WHERE asset_id = ${assetId} AND deleted_at IS NULL`;
  return live === 1;
}

export async function deleteAssetRows(db: D1Database, assets: MirroredAsset[]): Promise<void> {
  const ids = inList(idsOf(assets));
  await batch(db, [
    sql`DELETE FROM transcripts WHERE asset_id ${ids}`,
    sql`DELETE FROM assets WHERE asset_id ${ids}`,
    releaseAllBytes(idsOf(assets)),
  ]);
}

function idsOf(assets: MirroredAsset[]): AssetId[] {
  return assets.map(({ assetId }) => assetId);
}

export async function listContentRefs(db: D1Database, indexId: IndexId, limit: number) {
  return d1(db).all<ContentRef>`
    SELECT account_id AS accountId, index_id AS indexId, asset_id AS assetId, shard,
        vector_pair AS vectorPair
      FROM assets JOIN shards USING (index_id, shard)
      WHERE index_id = ${indexId} ORDER BY asset_id LIMIT ${limit}`;
}
