import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { AccountId, AssetId, IndexId, SegmentId } from "../src/ids.ts";
import type { Json } from "./client.ts";

/** Ids of an asset, its index and its account. */
export interface AssetRef {
  accountId: AccountId;
  indexId: IndexId;
  assetId: AssetId;
}

/** Reads the ids of an asset. */
export async function assetRefOf({ asset_id }: Json): Promise<AssetRef> {
  const asset = await env.DB.prepare(
    `SELECT account_id AS accountId, index_id AS indexId, asset_id AS assetId
     FROM assets WHERE asset_id = ?`,
  )
    .bind(asset_id)
    .first<AssetRef>();
  return asset!;
}

/** Runs a statement on the test database. */
export const run = (sql: string, ...bindings: unknown[]) =>
  env.DB.prepare(sql)
    .bind(...bindings)
    .run();

/** Lists the ids of an asset's segments, in order. */
export async function segmentIdsOf({ asset_id }: Json): Promise<SegmentId[]> {
  const { results } = await env.DB.prepare(
    "SELECT segment_id AS id FROM segments WHERE asset_id = ? ORDER BY position",
  )
    .bind(asset_id)
    .all<{ id: SegmentId }>();
  return results.map(({ id }) => id);
}

/** Columns of the tables that don't say to which index a row belongs. */
const COLUMNS_WITHOUT_INDEX = {
  reference_frames: "asset_id",
  transcripts: "asset_id",
  unembedded_speech: "segment_id",
};

/**
 * Counts what an index has in every store: rows by table, objects, and vectors by Vectorize index.
 * Reads the stores directly, and leaves out zeros and jobs, which stay. Rows without a segment or
 * an asset count for every index.
 */
export async function countStored(indexId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const { results: tables } = await env.DB.prepare(
    `SELECT name FROM sqlite_master WHERE type = 'table'
       AND name NOT GLOB 'segment_fts*' AND name NOT GLOB '_cf*' AND name <> 'jobs'`,
  ).all<{ name: string }>();
  for (const { name } of tables) {
    const { results } = await env.DB.prepare(`PRAGMA table_info(${name})`).all<{ name: string }>();
    if (!results.some((column) => column.name === "index_id")) continue;
    const where = name === "tallies" ? "index_id = ? AND assets <> 0" : "index_id = ?";
    counts[name] = await count(`SELECT COUNT(*) AS n FROM ${name} WHERE ${where}`, indexId);
  }
  for (const [name, column] of Object.entries(COLUMNS_WITHOUT_INDEX)) {
    const parent = column === "asset_id" ? "assets" : "segments";
    const rows = `SELECT COUNT(*) AS n FROM ${name}
      WHERE ${column} NOT IN (SELECT ${column} FROM ${parent} WHERE index_id <> ?)`;
    counts[name] = await count(rows, indexId);
  }
  const fullTextRows = `SELECT COUNT(*) AS n FROM segment_fts
    WHERE rowid NOT IN (SELECT rowid FROM segments WHERE index_id <> ?)`;
  counts["segment_fts"] = await count(fullTextRows, indexId);
  counts["objects"] = (await listKeys(indexId)).length;
  for (const name of ["sightline-text", "sightline-image"]) {
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
