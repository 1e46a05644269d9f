import type { AccountId } from "../ids.ts";

/** Usage of an account on one day (UTC). */
export interface Usage {
  date: string;
  searches: number;
  answers: number;
  ingestedMs: number;
  ingestedImages: number;
  modelCalls: number;
  neuronsEstimate: number;
}

const COLUMNS = {
  searches: "searches",
  answers: "answers",
  modelCalls: "model_calls",
  neurons: "neurons_estimate",
} as const;

/** Adds to an account's usage of today (UTC). */
export async function addUsage(
  db: D1Database,
  accountId: AccountId,
  counts: Partial<Record<keyof typeof COLUMNS, number>>,
): Promise<void> {
  const names = Object.keys(counts) as (keyof typeof COLUMNS)[];
  const columns = names.map((name) => COLUMNS[name]);
  await db
    .prepare(
      `INSERT INTO usage (account_id, date, ${columns.join(", ")})
       VALUES (?, date('now'), ${columns.map(() => "?").join(", ")})
       ON CONFLICT DO UPDATE SET ${columns.map((c) => `${c} = ${c} + excluded.${c}`).join(", ")}`,
    )
    .bind(accountId, ...names.map((name) => counts[name]))
    .run();
}

/** Lists an account's usage by day since `date` (YYYY-MM-DD), newest first, without unused days. */
export async function listUsage(
  db: D1Database,
  accountId: AccountId,
  since: string,
): Promise<Usage[]> {
  const { results } = await db
    .prepare(
      `SELECT date, searches, answers, ingested_ms AS ingestedMs, ingested_images AS ingestedImages,
         model_calls AS modelCalls, neurons_estimate AS neuronsEstimate
       FROM usage WHERE account_id = ? AND date >= ? ORDER BY date DESC`,
    )
    .bind(accountId, since)
    .all<Usage>();
  return results;
}
