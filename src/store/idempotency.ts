import { IDEMPOTENCY } from "../config.ts";
import type { AccountId } from "../ids.ts";
import { prepare, sql } from "./sql.ts";

/** A request with an `Idempotency-Key`. */
export interface Attempt {
  accountId: AccountId;
  key: string;
  fingerprint: string;
  /** Random id of this attempt. */
  leaseOwner: string;
}

/** An earlier request with the same key. */
export interface EarlierAttempt {
  fingerprint: string;
  /** Epoch ms; a lease that isn't renewed by then has expired. */
  leasedUntil: number;
  /** Status of the response; null while the request is processed. */
  status: number | null;
  /** JSON; null if the response isn't stored. */
  body: string | null;
}

/**
 * Claims the key for `attempt` and returns null. If another attempt has finished, holds the lease,
 * or used the key for a different request, returns that one. An attempt whose lease has expired, or
 * that is older than `IDEMPOTENCY.retentionMs`, is replaced.
 */
export async function beginAttempt(
  db: D1Database,
  { accountId, key, fingerprint, leaseOwner }: Attempt,
  now: number,
): Promise<EarlierAttempt | null> {
  const [, attempts] = await db.batch<EarlierAttempt & { leaseOwner: string }>([
    db
      .prepare(
        `INSERT INTO idempotency_keys
           (account_id, idempotency_key, fingerprint, lease_owner, leased_until, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT DO UPDATE SET fingerprint = ?3, lease_owner = ?4, leased_until = ?5,
           created_at = ?6, status = NULL, body = NULL
         WHERE created_at <= ?7 OR (status IS NULL AND leased_until <= ?6 AND fingerprint = ?3)`,
      )
      .bind(
        accountId,
        key,
        fingerprint,
        leaseOwner,
        now + IDEMPOTENCY.leaseMs,
        now,
        now - IDEMPOTENCY.retentionMs,
      ),
    db
      .prepare(
        `SELECT fingerprint, lease_owner AS leaseOwner, leased_until AS leasedUntil, status, body
         FROM idempotency_keys WHERE account_id = ? AND idempotency_key = ?`,
      )
      .bind(accountId, key),
  ]);
  const { leaseOwner: owner, ...earlier } = attempts!.results[0]!;
  return owner === leaseOwner ? null : earlier;
}

/** Extends the lease of an attempt. */
export async function renewAttempt(db: D1Database, attempt: Attempt, now: number): Promise<void> {
  await prepare(
    db,
    sql`UPDATE idempotency_keys SET leased_until = ${now + IDEMPOTENCY.leaseMs}
      WHERE ${isLeasedBy(attempt)}`,
  ).run();
}

/** Finishes an attempt. `body` is null for a response that isn't stored. */
export async function storeResponse(
  db: D1Database,
  attempt: Attempt,
  status: number,
  body: string | null,
): Promise<void> {
  await prepare(
    db,
    sql`UPDATE idempotency_keys SET status = ${status}, body = ${body}
      WHERE ${isLeasedBy(attempt)}`,
  ).run();
}

/** Discards an attempt that changed nothing: the key can be used again. */
export async function dropAttempt(db: D1Database, attempt: Attempt): Promise<void> {
  await prepare(db, sql`DELETE FROM idempotency_keys WHERE ${isLeasedBy(attempt)}`).run();
}

const isLeasedBy = ({ accountId, key, leaseOwner }: Attempt) =>
  sql`account_id = ${accountId} AND idempotency_key = ${key} AND lease_owner = ${leaseOwner}`;

/** Deletes up to `limit` responses that are older than `IDEMPOTENCY.retentionMs`. */
export async function deleteExpiredResponses(
  db: D1Database,
  now: number,
  limit: number,
): Promise<void> {
  await db
    .prepare(
      `DELETE FROM idempotency_keys WHERE (account_id, idempotency_key) IN (
         SELECT account_id, idempotency_key FROM idempotency_keys WHERE created_at <= ? LIMIT ?)`,
    )
    .bind(now - IDEMPOTENCY.retentionMs, limit)
    .run();
}
