import { IDEMPOTENCY } from "../config.ts";
import type { AccountId } from "../ids.ts";

/** A request that may be the first with its `Idempotency-Key`. */
export interface Attempt {
  accountId: AccountId;
  key: string;
  fingerprint: string;
  /** Of this attempt alone. */
  holder: string;
}

/** What is known of an earlier attempt. */
export interface Earlier {
  fingerprint: string;
  /** Epoch ms: unless it is heard of again by then, it was cut off. */
  heldUntil: number;
  /** Of its answer; null while it is worked on. */
  status: number | null;
  /** JSON; null where it isn't kept. */
  body: string | null;
}

/**
 * Makes `attempt` the one that does what the key stands for: null. Where another has done it, or is at it, or
 * the key stands for something else, that is returned. One that was cut off gives way, as does one of a day ago.
 */
export async function beginAttempt(
  db: D1Database,
  { accountId, key, fingerprint, holder }: Attempt,
  now: number,
): Promise<Earlier | null> {
  const [, found] = await db.batch<Earlier & { holder: string }>([
    db
      .prepare(
        `INSERT INTO idempotency_keys
           (account_id, idempotency_key, fingerprint, holder, held_until, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT DO UPDATE SET fingerprint = ?3, holder = ?4, held_until = ?5, created_at = ?6,
           status = NULL, body = NULL
         WHERE created_at <= ?7 OR (status IS NULL AND held_until <= ?6 AND fingerprint = ?3)`,
      )
      .bind(
        accountId,
        key,
        fingerprint,
        holder,
        now + IDEMPOTENCY.leaseMs,
        now,
        now - IDEMPOTENCY.keptMs,
      ),
    db
      .prepare(
        `SELECT fingerprint, holder, held_until AS heldUntil, status, body
         FROM idempotency_keys WHERE account_id = ? AND idempotency_key = ?`,
      )
      .bind(accountId, key),
  ]);
  const { holder: owner, ...earlier } = found!.results[0]!;
  return owner === holder ? null : earlier;
}

/** The attempt is still at it. */
export async function renewAttempt(db: D1Database, attempt: Attempt, now: number): Promise<void> {
  await db
    .prepare(`UPDATE idempotency_keys SET held_until = ? WHERE ${IS_ITS}`)
    .bind(now + IDEMPOTENCY.leaseMs, ...own(attempt))
    .run();
}

/** The attempt has done it; `body` is null where it isn't to be kept. */
export async function keepAnswer(
  db: D1Database,
  attempt: Attempt,
  status: number,
  body: string | null,
): Promise<void> {
  await db
    .prepare(`UPDATE idempotency_keys SET status = ?, body = ? WHERE ${IS_ITS}`)
    .bind(status, body, ...own(attempt))
    .run();
}

/** The attempt has done nothing: the key is as if it had never been used. */
export async function dropAttempt(db: D1Database, attempt: Attempt): Promise<void> {
  await db
    .prepare(`DELETE FROM idempotency_keys WHERE ${IS_ITS}`)
    .bind(...own(attempt))
    .run();
}

const IS_ITS = "account_id = ? AND idempotency_key = ? AND holder = ?";
const own = ({ accountId, key, holder }: Attempt) => [accountId, key, holder];

/** Deletes up to `limit` answers that are kept no longer. */
export async function forgetAnswers(db: D1Database, now: number, limit: number): Promise<void> {
  await db
    .prepare(
      `DELETE FROM idempotency_keys WHERE (account_id, idempotency_key) IN (
         SELECT account_id, idempotency_key FROM idempotency_keys WHERE created_at <= ? LIMIT ?)`,
    )
    .bind(now - IDEMPOTENCY.keptMs, limit)
    .run();
}
