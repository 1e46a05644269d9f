import { PRICES } from "../../config.ts";
import { COUNT_NAMES, type CountName } from "../../counts.ts";
import { toSnakeCase } from "../../field-names.ts";
import type { AccountId } from "../../ids.ts";
import { concat, raw, sql, d1 } from "../sql.ts";

export interface Usage extends Record<CountName, number> {
  date: string;
  ingestedMs: number;
  ingestedImages: number;
  /** Bytes of the account's files, as of the last full hour of the day. */
  storedBytes: number;
  storedSegments: number;
}

export function unusedDay(date: string): Usage {
  const counts = COUNT_NAMES.map((name) => [name, 0]);
  const zeros = Object.fromEntries(counts) as Record<CountName, number>;
  return { date, ingestedMs: 0, ingestedImages: 0, storedBytes: 0, storedSegments: 0, ...zeros };
}

/** SQL for the cost of a row of `usage` in US dollars, without that of what is stored. */
export const COST_SQL = Object.entries(PRICES)
  .map(([name, price]) => `${toSnakeCase(name)} * ${price}`)
  .join(" + ");

export async function addUsage(
  db: D1Database,
  accountId: AccountId,
  counts: ReadonlyMap<CountName, number>,
): Promise<void> {
  const columns = [...counts.keys()].map(toSnakeCase);
  const values = concat(
    [...counts.values()].map((count) => sql`${count}`),
    ", ",
  );
  const sums = columns.map((column) => `${column} = ${column} + excluded.${column}`);
  await d1(db).run`INSERT INTO usage (account_id, date, ${raw(columns.join(", "))})
    VALUES (${accountId}, date('now'), ${values})
    ON CONFLICT DO UPDATE SET ${raw(sums.join(", "))}`;
}

/** Records for today (UTC) what all accounts store. Writes only what has changed. */
export async function recordStored(db: D1Database): Promise<void> {
  await d1(db).run`INSERT INTO usage (account_id, date, stored_bytes, stored_segments)
      SELECT account_id, date('now'), SUM(size_bytes) AS bytes, SUM(segments) AS segments
      FROM tallies GROUP BY account_id HAVING bytes > 0
      ON CONFLICT DO UPDATE
        SET stored_bytes = excluded.stored_bytes, stored_segments = excluded.stored_segments
        WHERE (stored_bytes, stored_segments)
          IS NOT (excluded.stored_bytes, excluded.stored_segments)`;
}

export async function listUsage(db: D1Database, accountId: AccountId, since: string) {
  const counts = COUNT_NAMES.map((name) => `${toSnakeCase(name)} AS ${name}`);
  return d1(db)
    .all<Usage>`SELECT date, ingested_ms AS ingestedMs, ingested_images AS ingestedImages,
      stored_bytes AS storedBytes, stored_segments AS storedSegments, ${raw(counts.join(", "))}
    FROM usage WHERE account_id = ${accountId} AND date >= ${since} ORDER BY date DESC`;
}
