import { IDEMPOTENCY } from "../../config.ts";
import type { AccountId } from "../../ids.ts";
import { batch, sql, d1 } from "../sql.ts";
import { QuotaGuard, recordBytes } from "./quotas.ts";

export interface Attempt {
  accountId: AccountId;
  key: string;
  fingerprint: string;
  leaseOwner: string;
}

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
 * that is older than `IDEMPOTENCY.retentionMs`, is replaced. Throws `account_full` if the account
 * has no room for a key that it hasn't used.
 */
export async function beginAttempt(
  db: D1Database,
  { accountId, key, fingerprint, leaseOwner }: Attempt,
  now: number,
): Promise<EarlierAttempt | null> {
  const quota = new QuotaGuard(accountId, recordBytes(key, fingerprint));
  const isUsed = sql`EXISTS (SELECT 1 FROM idempotency_keys
    WHERE account_id = ${accountId} AND idempotency_key = ${key})`;
  const claim = sql`INSERT INTO idempotency_keys
      (account_id, idempotency_key, fingerprint, lease_owner, leased_until, created_at)
    SELECT ${accountId}, ${key}, ${fingerprint}, ${leaseOwner}, ${now + IDEMPOTENCY.leaseMs}, ${now}
    WHERE ${isUsed} OR ${quota.condition}
    ON CONFLICT DO UPDATE SET fingerprint = excluded.fingerprint,
      lease_owner = excluded.lease_owner, leased_until = excluded.leased_until,
      created_at = excluded.created_at, status = NULL, body = NULL
    WHERE created_at <= ${now - IDEMPOTENCY.retentionMs}
      OR (status IS NULL AND leased_until <= ${now} AND fingerprint = ${fingerprint})`;
  const [, attempts, usage] = await batch(db, [
    claim,
    sql`SELECT fingerprint, lease_owner AS leaseOwner, leased_until AS leasedUntil, status, body
      FROM idempotency_keys WHERE account_id = ${accountId} AND idempotency_key = ${key}`,
    quota.usageStatement,
  ]);
  const row = attempts!.results[0] as (EarlierAttempt & { leaseOwner: string }) | undefined;
  if (!row) quota.throwIfExceeded(usage!.results[0]);
  const { leaseOwner: owner, ...earlier } = row!;
  return owner === leaseOwner ? null : earlier;
}

export async function renewAttempt(db: D1Database, attempt: Attempt, now: number): Promise<void> {
  await d1(db).run`UPDATE idempotency_keys SET leased_until = ${now + IDEMPOTENCY.leaseMs}
      WHERE ${isLeasedBy(attempt)}`;
}

/** Finishes an attempt. `body` is null for a response that isn't stored. */
export async function storeResponse(
  db: D1Database,
  attempt: Attempt,
  status: number,
  body: string | null,
): Promise<void> {
  await d1(db).run`UPDATE idempotency_keys SET status = ${status}, body = ${body}
      WHERE ${isLeasedBy(attempt)}`;
}

/** Discards an attempt that changed nothing: the key can be used again. */
export async function dropAttempt(db: D1Database, attempt: Attempt): Promise<void> {
  await d1(db).run`DELETE FROM idempotency_keys WHERE ${isLeasedBy(attempt)}`;
}

const isLeasedBy = ({ accountId, key, leaseOwner }: Attempt) =>
  sql`account_id = ${accountId} AND idempotency_key = ${key} AND lease_owner = ${leaseOwner}`;

export async function pruneResponses(db: D1Database, now: number, limit: number): Promise<void> {
  await d1(db).run`DELETE FROM idempotency_keys WHERE (account_id, idempotency_key) IN (
      SELECT account_id, idempotency_key FROM idempotency_keys
        WHERE created_at <= ${now - IDEMPOTENCY.retentionMs}
      ORDER BY created_at LIMIT ${limit})`;
}
