import { LIMITS } from "../../config.ts";
import { AppError } from "../../errors.ts";
import { type AccountId, type IndexId, isIdText, type SegmentId, type WatchId } from "../../ids.ts";
import type { AssetKind, Asset, JsonObject } from "../../types.ts";
import type { Condition } from "../index-database/asset-scope.ts";
import {
  all,
  batch,
  first,
  inChunks,
  inList,
  type Page,
  type PageRequest,
  parseColumns,
  raw,
  run,
  sql,
  toPage,
} from "../sql.ts";
import { QuotaGuard, recordBytes } from "./quotas.ts";

/** What a watch searches new segments for. The image of an example is stored beside it. */
export interface WatchRequest {
  /** Empty if there is only an example. */
  query: string;
  /** Id of the segment or asset that is the example. */
  similarTo: string | null;
  hasImage: boolean;
  /** The filter as it was sent, and its conditions. */
  filter: JsonObject;
  conditions: Condition[];
  /** Kinds of evidence, and kinds of assets; empty for all. */
  modes: string[];
  assetTypes: AssetKind[];
}

/** The vectors of a watch, each as 32-bit numbers in base64, and the models that made them. */
export interface WatchVectors {
  models: { text: string; image: string | null };
  channels: { space: "text" | "image"; values: string }[];
  /** Luma of the image for its signature, in base64; null without an image. */
  luma: string | null;
}

/** The segments of an index that were nearest to a vector, with their cosines, best first. */
export type NearestList = [segmentId: SegmentId, cosine: number][];

/** A list for each vector of a watch, and when they were read from Vectorize. */
export interface NearestLists {
  at: number;
  lists: NearestList[];
  /** Number of segments in the lists when they were read. */
  found: number;
  /** Number of these that have text. */
  withText: number;
}

/** A query that announces each new segment which matches. Times are epoch ms. */
export interface Watch {
  watchId: WatchId;
  accountId: AccountId;
  indexId: IndexId;
  name: string;
  request: WatchRequest;
  /** Lowest score of a match. */
  minProbability: number;
  /** Where its events are sent, instead of the index's webhook. */
  webhookUrl: string | null;
  /** 1 if nothing is announced for now. */
  paused: number;
  createdAt: number;
  updatedAt: number;
}

/** A watch with what new segments are compared with. */
export interface WatchQuery extends Watch {
  /** JPEG of the example in base64. */
  image: string | null;
  vectors: WatchVectors | null;
  nearest: NearestLists | null;
}

const COLUMNS = raw(`watch_id AS watchId, account_id AS accountId, index_id AS indexId, name,
  request, min_probability AS minProbability, webhook_url AS webhookUrl, paused,
  created_at AS createdAt, updated_at AS updatedAt`);
const QUERY_COLUMNS = raw("image, vectors, nearest");

/** Bytes of the vectors and nearest lists of a watch, at most. */
const VECTOR_BYTES = 60_000;

/** Bytes of a request: its filter is in it twice. */
const MAX_REQUEST_BYTES = 2 * LIMITS.metadataBytes;

/** Returns the JSON of a request. Throws `too_large`. */
function toRequestText(request: WatchRequest): string {
  const text = JSON.stringify(request);
  if (Buffer.byteLength(text) <= MAX_REQUEST_BYTES) return text;
  throw new AppError("too_large", "The filter of a watch is too long; list fewer values.");
}

/**
 * Inserts a watch. Throws `account_full` if its index has `LIMITS.watchesPerIndex`, or its account
 * no room, and `too_large`.
 */
export async function insertWatch(db: D1Database, watch: WatchQuery): Promise<void> {
  const { watchId, accountId, indexId, name, minProbability, webhookUrl, paused } = watch;
  const request = toRequestText(watch.request);
  const bytes = recordBytes(name, request, webhookUrl ?? "", watch.image ?? "");
  const quota = new QuotaGuard(accountId, { record_bytes: bytes.record_bytes + VECTOR_BYTES });
  const count = sql`SELECT COUNT(*) AS count FROM watches WHERE index_id = ${indexId}`;
  const [counted, inserted, usage] = await batch<{ count: number }>(db, [
    count,
    sql`INSERT INTO watches (watch_id, account_id, index_id, name, request, min_probability,
        webhook_url, paused, image, vectors, nearest, created_at, updated_at)
      SELECT ${watchId}, ${accountId}, ${indexId}, ${name}, ${request}, ${minProbability},
        ${webhookUrl}, ${paused}, ${watch.image}, ${JSON.stringify(watch.vectors)}, NULL,
        ${watch.createdAt}, ${watch.updatedAt}
      WHERE (${count}) < ${LIMITS.watchesPerIndex} AND ${quota.condition}`,
    quota.usageStatement,
  ]);
  if (inserted!.meta.changes > 0) return;
  if (counted!.results[0]!.count >= LIMITS.watchesPerIndex) {
    const message = `An index has at most ${LIMITS.watchesPerIndex} watches; delete one.`;
    throw new AppError("account_full", message);
  }
  quota.throwIfExceeded(usage!.results[0]);
}

/** Returns a watch with its vectors. Throws `not_found` if the index has no such watch. */
export async function requireWatch(
  db: D1Database,
  indexId: IndexId,
  watchId: string,
): Promise<WatchQuery> {
  const selected = sql`SELECT ${COLUMNS}, ${QUERY_COLUMNS} FROM watches
    WHERE watch_id = ${watchId} AND index_id = ${indexId}`;
  const row = isIdText(["wat"], watchId) && (await first<WatchQuery>(db, selected));
  if (!row) throw new AppError("not_found", `There is no watch "${watchId}" in this index.`);
  return fromQueryRow(row);
}

/** Lists the watches of an index in the order of their creation. */
export async function listWatches(
  db: D1Database,
  indexId: IndexId,
  { limit, after }: PageRequest,
): Promise<Page<Watch>> {
  const [rows, total] = await batch<Watch & { total: number }>(db, [
    sql`SELECT ${COLUMNS} FROM watches WHERE index_id = ${indexId} AND watch_id > ${after}
      ORDER BY watch_id LIMIT ${limit + 1}`,
    sql`SELECT COUNT(*) AS total FROM watches WHERE index_id = ${indexId}`,
  ]);
  const items = rows!.results.map((row) => parseColumns<Watch>(row, ["request"]));
  return toPage(items, total!.results[0]!.total, limit, ({ watchId }) => watchId);
}

/** Lists the watches that an asset may match: those that are on and were there before it. */
export async function listWatchesFor(
  db: D1Database,
  { indexId, createdAt }: Pick<Asset, "indexId" | "createdAt">,
): Promise<WatchQuery[]> {
  const rows = await all<WatchQuery>(
    db,
    sql`SELECT ${COLUMNS}, ${QUERY_COLUMNS} FROM watches
      WHERE index_id = ${indexId} AND paused = 0 AND created_at <= ${createdAt}
      ORDER BY watch_id`,
  );
  return rows.map(fromQueryRow);
}

/** Whether an asset may match a watch. Its vectors are then needed when it becomes searchable. */
export async function isWatched(
  db: D1Database,
  { indexId, createdAt }: Pick<Asset, "indexId" | "createdAt">,
): Promise<boolean> {
  const row = await first(
    db,
    sql`SELECT 1 FROM watches
      WHERE index_id = ${indexId} AND paused = 0 AND created_at <= ${createdAt} LIMIT 1`,
  );
  return row !== null;
}

/** What an event says of a watch and of its index. */
export type NamedWatch = Pick<Watch, "watchId" | "name" | "webhookUrl"> & { indexName: string };

/** Returns the watches with some ids. */
export async function listWatchesById(
  db: D1Database,
  indexId: IndexId,
  watchIds: readonly WatchId[],
): Promise<NamedWatch[]> {
  return all<NamedWatch>(
    db,
    sql`SELECT watch_id AS watchId, watches.name, webhook_url AS webhookUrl,
        indices.name AS indexName
      FROM watches JOIN indices USING (index_id)
      WHERE index_id = ${indexId} AND watch_id ${inList(watchIds)}`,
  );
}

/** Fields of a watch that can be changed. An undefined field keeps its value. */
export interface WatchChange {
  name?: string | undefined;
  request?: WatchRequest | undefined;
  /** Those of a request with another query. */
  vectors?: WatchVectors | undefined;
  minProbability?: number | undefined;
  /** Null removes it. */
  webhookUrl?: string | null | undefined;
  paused?: boolean | undefined;
}

/**
 * Changes a watch. Another request has other nearest segments. It replaces the one that was read,
 * so that words and vectors fit: throws `conflict` if that was changed meanwhile. Throws
 * `account_full` if the account has no room for longer texts, and `too_large`.
 */
export async function updateWatch(
  db: D1Database,
  { watchId, accountId, request: before }: Pick<Watch, "watchId" | "accountId" | "request">,
  { name, request, vectors, minProbability, webhookUrl, paused }: WatchChange,
  now: number,
): Promise<void> {
  const texts = {
    name,
    request: request && toRequestText(request),
    "COALESCE(webhook_url, '')": webhookUrl ?? undefined,
  };
  const quota = new QuotaGuard(accountId, recordBytes(...Object.values(texts)));
  const url = webhookUrl === undefined ? raw("webhook_url") : sql`${webhookUrl}`;
  const nearest = request ? raw("NULL") : raw("nearest");
  const [updated, usage] = await batch(db, [
    sql`UPDATE watches SET name = COALESCE(${name ?? null}, name),
        request = COALESCE(${texts.request ?? null}, request),
        vectors = COALESCE(${vectors ? JSON.stringify(vectors) : null}, vectors),
        min_probability = COALESCE(${minProbability ?? null}, min_probability),
        webhook_url = ${url}, nearest = ${nearest},
        paused = COALESCE(${paused === undefined ? null : Number(paused)}, paused),
        updated_at = ${now}
      WHERE watch_id = ${watchId}
        AND (${texts.request ?? null} IS NULL OR request = ${JSON.stringify(before)})
        AND ${quota.replaceCondition(texts)}`,
    quota.usageStatement,
  ]);
  if (updated!.meta.changes > 0) return;
  quota.throwIfExceeded(usage!.results[0]);
  if (request) throw new AppError("conflict", "The watch was changed meanwhile; send it again.");
}

export async function deleteWatch(db: D1Database, watchId: WatchId): Promise<void> {
  await run(db, sql`DELETE FROM watches WHERE watch_id = ${watchId}`);
}

/** Stores vectors that another model made of a request which is still that of `updatedAt`. */
export async function putWatchVectors(
  db: D1Database,
  { watchId, updatedAt }: Pick<Watch, "watchId" | "updatedAt">,
  vectors: WatchVectors,
): Promise<void> {
  await run(
    db,
    sql`UPDATE watches SET vectors = ${JSON.stringify(vectors)}, nearest = NULL
      WHERE watch_id = ${watchId} AND updated_at = ${updatedAt}`,
  );
}

/** Stores the nearest segments of watches whose request is still that of `updatedAt`. */
export async function putNearest(
  db: D1Database,
  watches: readonly { watchId: WatchId; updatedAt: number; nearest: NearestLists }[],
): Promise<void> {
  const rows = watches.map(({ watchId, updatedAt, nearest }) => {
    return [watchId, updatedAt, JSON.stringify(nearest)];
  });
  for (const chunk of inChunks(rows)) {
    await run(
      db,
      sql`UPDATE watches SET nearest = value ->> 2 FROM json_each(${chunk})
        WHERE watch_id = value ->> 0 AND updated_at = value ->> 1`,
    );
  }
}

function fromQueryRow(row: WatchQuery): WatchQuery {
  return parseColumns(row, ["request", "vectors", "nearest"]);
}
