import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { AccountId, AssetId, IndexId, SegmentId } from "../../src/ids.ts";
import { listShards } from "../../src/store/d1/shards.ts";
import { indexDatabase } from "../../src/store/index-database/index-database.ts";
import type { Shard } from "../../src/types.ts";
import type { Json } from "./client.ts";

/** Ids of an asset, its index and its account. */
export interface AssetRef extends Shard {
  accountId: AccountId;
  indexId: IndexId;
  assetId: AssetId;
  /** The shards of its index. */
  shards: Shard[];
}

/** Reads the ids of an asset. */
export async function assetRefOf({ asset_id }: Json): Promise<AssetRef> {
  const asset = await env.DB.prepare(
    `SELECT account_id AS accountId, index_id AS indexId, asset_id AS assetId, shard,
       vector_pair AS vectorPair
     FROM assets JOIN shards USING (index_id, shard) WHERE asset_id = ?`,
  )
    .bind(asset_id)
    .first<Omit<AssetRef, "shards">>();
  return { ...asset!, shards: await listShards(env.DB, asset!.indexId) };
}

/** Runs a statement on the test database. */
export const run = (sql: string, ...bindings: unknown[]) =>
  env.DB.prepare(sql)
    .bind(...bindings)
    .run();

/** Marks a statement of a test, which may read a table whole: query-plans.ts leaves it out. */
const TEST_STATEMENT = "/* test */";

/** Runs a statement on a database of an index: the first one unless `shard` says another. */
export async function runInIndex<Row = Record<string, unknown>>(
  { indexId, shard = 0 }: Pick<AssetRef, "indexId"> & Partial<AssetRef>,
  sql: string,
  ...bindings: (string | number | null)[]
): Promise<Row[]> {
  const marked = `${TEST_STATEMENT} ${sql}`;
  return indexDatabase(env, { indexId, shard }).all<Row>({ sql: marked, bindings });
}

/** SQL that tests whether a row of `segments` belongs to the asset that is bound. */
export const OF_ASSET = "asset_key = (SELECT asset_key FROM assets WHERE asset_id = ?)";

/** Changes the segments of an asset; `assignments` are SQL. */
export async function updateSegments(
  asset: Json,
  assignments: string,
  ...bindings: (string | number | null)[]
): Promise<void> {
  const ref = await assetRefOf(asset);
  const sql = `UPDATE segments SET ${assignments} WHERE ${OF_ASSET}`;
  await runInIndex(ref, sql, ...bindings, ref.assetId);
}

/** Lists the ids of an asset's segments, in order. */
export async function segmentIdsOf(asset: Json): Promise<SegmentId[]> {
  const ref = await assetRefOf(asset);
  const sql = `SELECT segment_id AS id FROM segments WHERE ${OF_ASSET} ORDER BY position`;
  const rows = await runInIndex<{ id: SegmentId }>(ref, sql, ref.assetId);
  return rows.map(({ id }) => id);
}

const VECTOR_SPACES = [
  "sightline-text-1",
  "sightline-image-1",
  "sightline-text-2",
  "sightline-image-2",
];

/** Tables of an index's database whose rows are counted. Its `assets` keep deleted ones. */
const INDEX_TABLES = [
  "segments",
  "segment_fts_docsize",
  "signatures",
  "signature_hashes",
  "unembedded_speech",
];

/**
 * Counts what an index has in every store: rows by table, objects, and vectors by Vectorize index.
 * Reads the stores directly, and leaves out zeros and jobs, which stay. Transcripts without an
 * asset count for every index.
 */
export async function countStored(indexId: IndexId): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const { results: tables } = await env.DB.prepare(
    `SELECT name FROM sqlite_master
     WHERE type = 'table' AND name NOT GLOB '_cf*' AND name <> 'jobs'`,
  ).all<{ name: string }>();
  for (const { name } of tables) {
    const { results } = await env.DB.prepare(`PRAGMA table_info(${name})`).all<{ name: string }>();
    if (!results.some((column) => column.name === "index_id")) continue;
    const where = name === "tallies" ? "index_id = ? AND assets <> 0" : "index_id = ?";
    counts[name] = await count(`SELECT COUNT(*) AS n FROM ${name} WHERE ${where}`, indexId);
  }
  const transcripts = `SELECT COUNT(*) AS n FROM transcripts
    WHERE asset_id NOT IN (SELECT asset_id FROM assets WHERE index_id <> ?)`;
  counts["transcripts"] = await count(transcripts, indexId);
  const shardCount = (await listShards(env.DB, indexId)).length || 1;
  for (const table of INDEX_TABLES) {
    counts[table] = 0;
    for (let shard = 0; shard < shardCount; shard++) {
      const sql = `SELECT COUNT(*) AS n FROM ${table}`;
      const [row] = await runInIndex<{ n: number }>({ indexId, shard }, sql);
      counts[table] += row?.n ?? 0;
    }
  }
  counts["objects"] = (await listKeys(indexId)).length;
  for (const name of VECTOR_SPACES) {
    counts[name] = (await listVectorIds(name, indexId)).length;
  }
  return Object.fromEntries(Object.entries(counts).filter(([, n]) => n > 0));
}

async function count(sql: string, binding: string): Promise<number> {
  return (await env.DB.prepare(sql).bind(binding).first<number>("n"))!;
}

async function listKeys(indexId: string): Promise<string[]> {
  const { objects } = await env.MEDIA.list();
  return objects.map(({ key }) => key).filter((key) => key.includes(indexId));
}

/** Lists the ids of the vectors in an index's namespace. */
function listVectorIds(name: string, indexId: string): Promise<string[]> {
  return runInDurableObject(env.VECTOR_SPACES.getByName(name), (object, { storage }) => {
    object.describe(); // applies pending writes
    return storage.sql
      .exec<{ id: string }>("SELECT id FROM vectors WHERE namespace = ? ORDER BY id", indexId)
      .toArray()
      .map(({ id }) => id);
  });
}
