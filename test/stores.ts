import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { AccountId, AssetId, IndexId, SegmentId } from "../src/ids.ts";
import type { Json } from "./client.ts";

/** Whose something is. */
export interface Owner {
  accountId: AccountId;
  indexId: IndexId;
  assetId: AssetId;
}

export async function ownerOf({ asset_id }: Json): Promise<Owner> {
  const owner = await env.DB.prepare(
    "SELECT account_id AS accountId, index_id AS indexId, asset_id AS assetId FROM assets WHERE asset_id = ?",
  )
    .bind(asset_id)
    .first<Owner>();
  return owner!;
}

export const run = (sql: string, ...bindings: unknown[]) =>
  env.DB.prepare(sql)
    .bind(...bindings)
    .run();

/** The ids of an asset's segments, in order. */
export async function segmentsOf({ asset_id }: Json): Promise<SegmentId[]> {
  const { results } = await env.DB.prepare(
    "SELECT segment_id AS id FROM segments WHERE asset_id = ? ORDER BY position",
  )
    .bind(asset_id)
    .all<{ id: SegmentId }>();
  return results.map(({ id }) => id);
}

/** All that the raw stores hold of an index, whoever put it there; jobs, which tell what was done, aside. */
export async function holdings(indexId: string): Promise<Record<string, number>> {
  const held: Record<string, number> = {};
  const { results: tables } = await env.DB.prepare(
    `SELECT name FROM sqlite_master WHERE type = 'table'
       AND name NOT GLOB 'segment_words*' AND name NOT GLOB '_cf*' AND name <> 'jobs' AND name <> 'word_counts'`,
  ).all<{ name: string }>();
  const owned = { stills: "asset_id", transcripts: "asset_id", unembedded_speech: "segment_id" };
  for (const { name } of tables) {
    const { results } = await env.DB.prepare(`PRAGMA table_info(${name})`).all<{ name: string }>();
    if (!results.some((column) => column.name === "index_id")) continue;
    const some = name === "tallies" ? "index_id = ? AND assets <> 0" : "index_id = ?";
    held[name] = await count(`SELECT COUNT(*) AS n FROM ${name} WHERE ${some}`, indexId);
  }
  for (const [name, column] of Object.entries(owned)) {
    const owner = column === "asset_id" ? "assets" : "segments";
    const lost = `SELECT COUNT(*) AS n FROM ${name} WHERE ${column} NOT IN (SELECT ${column} FROM ${owner} WHERE index_id <> ?)`;
    held[name] = await count(lost, indexId);
  }
  const words =
    "SELECT COUNT(*) AS n FROM segment_words WHERE rowid NOT IN (SELECT rowid FROM segments WHERE index_id <> ?)";
  held["segment_words"] = await count(words, indexId);
  held["objects"] = (await keysOf(indexId)).length;
  for (const space of ["sightline-text", "sightline-picture"]) {
    held[space] = (await vectorsOf(space, indexId)).length;
  }
  return Object.fromEntries(Object.entries(held).filter(([, n]) => n > 0));
}

async function count(sql: string, binding: string): Promise<number> {
  return (await env.DB.prepare(sql).bind(binding).first<number>("n"))!;
}

async function keysOf(indexId: string): Promise<string[]> {
  const { objects } = await env.MEDIA.list();
  return objects.map(({ key }) => key).filter((key) => key.includes(indexId));
}

/** The ids of the vectors in an index's namespace. */
function vectorsOf(space: string, indexId: string): Promise<string[]> {
  return runInDurableObject(env.VECTOR_SPACES.getByName(space), (object, { storage }) => {
    object.describe(); // what was written shows
    return storage.sql
      .exec<{ id: string }>("SELECT id FROM vectors WHERE namespace = ? ORDER BY id", indexId)
      .toArray()
      .map(({ id }) => id);
  });
}
