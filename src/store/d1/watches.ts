import { LIMITS } from "../../config.ts";
import { AppError } from "../../errors.ts";
import { type AccountId, type IndexId, isIdText, type WatchId } from "../../ids.ts";
import type { AssetKind, Asset, JsonObject } from "../../types.ts";
import type { Condition } from "../index-database/asset-scope.ts";
import {
  assignments,
  batch,
  inList,
  newRow,
  type PageRequest,
  parseColumns,
  raw,
  readPage,
  sql,
  d1,
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

export interface WatchQuery extends Watch {
  /** JPEG of the example in base64. */
  image: string | null;
}

const COLUMNS = raw(`watch_id AS watchId, account_id AS accountId, index_id AS indexId, name,
  request, min_probability AS minProbability, webhook_url AS webhookUrl, paused,
  created_at AS createdAt, updated_at AS updatedAt`);
/** Bytes that the database counts of a watch beside its texts. */
const ROW_BYTES = 60_000;

/** Bytes of a request: its filter is in it twice. */
const MAX_REQUEST_BYTES = 2 * LIMITS.metadataBytes;

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
  const { accountId, indexId, name, webhookUrl } = watch;
  const request = toRequestText(watch.request);
  const bytes = recordBytes(name, request, webhookUrl ?? "", watch.image ?? "");
  const quota = new QuotaGuard(accountId, { record_bytes: bytes.record_bytes + ROW_BYTES });
  const count = sql`SELECT COUNT(*) AS count FROM watches WHERE index_id = ${indexId}`;
  const [counted, inserted, usage] = await batch<{ count: number }>(db, [
    count,
    sql`INSERT INTO ${newRow("watches", { ...watch, request })}
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

/** Returns a watch with its example. Throws `not_found` if the index has no such watch. */
export async function requireWatch(db: D1Database, indexId: IndexId, watchId: string) {
  const row =
    isIdText(["wat"], watchId) &&
    (await d1(db).first<WatchQuery>`SELECT ${COLUMNS}, image FROM watches
    WHERE watch_id = ${watchId} AND index_id = ${indexId}`);
  if (!row) throw new AppError("not_found", `There is no watch "${watchId}" in this index.`);
  return fromRow(row);
}

export function listWatches(db: D1Database, indexId: IndexId, request: PageRequest) {
  const from = sql`FROM watches WHERE index_id = ${indexId}`;
  return readPage(db, { columns: COLUMNS, from, id: "watchId" }, request, fromRow<Watch>);
}

/** Lists the watches that an asset may match: those that are on and were there before it. */
export async function listWatchesFor(db: D1Database, asset: Pick<Asset, "indexId" | "createdAt">) {
  const rows = await d1(db)
    .all<WatchQuery>`SELECT ${COLUMNS}, image FROM watches WHERE ${mayMatch(asset)}
    ORDER BY watch_id`;
  return rows.map(fromRow);
}

export async function isWatched(db: D1Database, asset: Pick<Asset, "indexId" | "createdAt">) {
  return (await d1(db).first`SELECT 1 FROM watches WHERE ${mayMatch(asset)} LIMIT 1`) !== null;
}

const mayMatch = ({ indexId, createdAt }: Pick<Asset, "indexId" | "createdAt">) =>
  sql`index_id = ${indexId} AND paused = 0 AND created_at <= ${createdAt}`;

export type NamedWatch = Pick<Watch, "watchId" | "name" | "webhookUrl"> & { indexName: string };

export async function listWatchesById(
  db: D1Database,
  indexId: IndexId,
  watchIds: readonly WatchId[],
): Promise<NamedWatch[]> {
  return d1(db).all<NamedWatch>`SELECT watch_id AS watchId, watches.name, webhook_url AS webhookUrl,
        indices.name AS indexName
      FROM watches JOIN indices USING (index_id)
      WHERE index_id = ${indexId} AND watch_id ${inList(watchIds)}`;
}

/** Fields of a watch that can be changed. An undefined field keeps its value. */
export interface WatchChange {
  name?: string | undefined;
  request?: WatchRequest | undefined;
  minProbability?: number | undefined;
  /** Null removes it. */
  webhookUrl?: string | null | undefined;
  paused?: boolean | undefined;
}

/**
 * Changes a watch. Another request replaces the one that was read: throws `conflict` if that was
 * changed meanwhile. Throws `account_full` if the account has no room for longer texts, and
 * `too_large`.
 */
export async function updateWatch(
  db: D1Database,
  { watchId, accountId, request: before }: Pick<Watch, "watchId" | "accountId" | "request">,
  change: WatchChange,
  now: number,
): Promise<void> {
  const { name, request, webhookUrl } = change;
  const texts = {
    name,
    request: request && toRequestText(request),
    "COALESCE(webhook_url, '')": webhookUrl ?? undefined,
  };
  const quota = new QuotaGuard(accountId, recordBytes(...Object.values(texts)));
  const [updated] = await quota.write(db, [
    sql`UPDATE watches SET ${assignments({ ...change, updatedAt: now })}
      WHERE watch_id = ${watchId}
        AND (${texts.request ?? null} IS NULL OR request = ${JSON.stringify(before)})
        AND ${quota.replaceCondition(texts)}`,
  ]);
  if (updated!.meta.changes > 0 || !request) return;
  throw new AppError("conflict", "The watch was changed meanwhile; send it again.");
}

export async function deleteWatch(db: D1Database, watchId: WatchId): Promise<void> {
  await d1(db).run`DELETE FROM watches WHERE watch_id = ${watchId}`;
}

function fromRow<Row extends Watch>(row: Row): Row {
  return parseColumns(row, ["request"]);
}
