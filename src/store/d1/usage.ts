import { PRICES } from "../../config.ts";
import type { AccountId } from "../../ids.ts";
import { all, concat, raw, run, sql } from "../sql.ts";

/** What is counted of an account's day, with its column. */
const COLUMNS = {
  searches: "searches",
  answers: "answers",
  modelCalls: "model_calls",
  inputTokens: "input_tokens",
  outputTokens: "output_tokens",
  audioSeconds: "audio_seconds",
  neurons: "neurons",
  frames: "frames",
  images: "images",
  convertedSeconds: "converted_seconds",
  dimensionsQueried: "dimensions_queried",
  vectorsWritten: "vectors_written",
  rowsRead: "rows_read",
  rowsWritten: "rows_written",
  objectRequests: "object_requests",
  bucketReads: "bucket_reads",
  bucketWrites: "bucket_writes",
  requests: "requests",
  queueOperations: "queue_operations",
} as const;

/** Name of a count: work of the service, or operations that the platform bills. */
export type CountName = keyof typeof COLUMNS;

/** Usage of an account on one day (UTC). */
export interface Usage extends Record<CountName, number> {
  date: string;
  ingestedMs: number;
  ingestedImages: number;
  /** Bytes of the account's files, as of the last full hour of the day. */
  storedBytes: number;
  storedSegments: number;
}

/** Returns the usage of a day on which an account did nothing. */
export function unusedDay(date: string): Usage {
  const counts = Object.keys(COLUMNS).map((name) => [name, 0]);
  const zeros = Object.fromEntries(counts) as Record<CountName, number>;
  return { date, ingestedMs: 0, ingestedImages: 0, storedBytes: 0, storedSegments: 0, ...zeros };
}

/** SQL for the cost of a row of `usage` in US dollars, without that of what is stored. */
export const COST_SQL = Object.entries(PRICES)
  .map(([name, price]) => `${COLUMNS[name as keyof typeof PRICES]} * ${price}`)
  .join(" + ");

/** Adds to an account's usage of today (UTC). */
export async function addUsage(
  db: D1Database,
  accountId: AccountId,
  counts: ReadonlyMap<CountName, number>,
): Promise<void> {
  const columns = [...counts.keys()].map((name) => COLUMNS[name]);
  const values = concat(
    [...counts.values()].map((count) => sql`${count}`),
    ", ",
  );
  const sums = columns.map((column) => `${column} = ${column} + excluded.${column}`);
  const added = sql`INSERT INTO usage (account_id, date, ${raw(columns.join(", "))})
    VALUES (${accountId}, date('now'), ${values})
    ON CONFLICT DO UPDATE SET ${raw(sums.join(", "))}`;
  await run(db, added);
}

/** Records for today (UTC) what all accounts store. Writes only what has changed. */
export async function recordStored(db: D1Database): Promise<void> {
  await run(
    db,
    sql`INSERT INTO usage (account_id, date, stored_bytes, stored_segments)
      SELECT account_id, date('now'), SUM(size_bytes) AS bytes, SUM(segments) AS segments
      FROM tallies GROUP BY account_id HAVING bytes > 0
      ON CONFLICT DO UPDATE
        SET stored_bytes = excluded.stored_bytes, stored_segments = excluded.stored_segments
        WHERE (stored_bytes, stored_segments)
          IS NOT (excluded.stored_bytes, excluded.stored_segments)`,
  );
}

/** Lists an account's usage by day since `date` (YYYY-MM-DD), newest first, without unused days. */
export async function listUsage(
  db: D1Database,
  accountId: AccountId,
  since: string,
): Promise<Usage[]> {
  const counts = Object.entries(COLUMNS).map(([name, column]) => `${column} AS ${name}`);
  const days = sql`SELECT date, ingested_ms AS ingestedMs, ingested_images AS ingestedImages,
      stored_bytes AS storedBytes, stored_segments AS storedSegments, ${raw(counts.join(", "))}
    FROM usage WHERE account_id = ${accountId} AND date >= ${since} ORDER BY date DESC`;
  return all<Usage>(db, days);
}
