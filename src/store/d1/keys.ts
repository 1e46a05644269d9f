import { AppError } from "../../errors.ts";
import { type AccountId, isIdText, type KeyId } from "../../ids.ts";
import type { KeyClaims, Scope, VerifiedKey } from "../../keys.ts";
import {
  batch,
  first,
  type Page,
  type PageRequest,
  raw,
  run,
  sql,
  type SqlFragment,
  toPage,
} from "../sql.ts";
import { QuotaGuard, recordBytes } from "./quotas.ts";

/** An API key's row. Times are epoch ms. */
export interface ApiKey {
  keyId: KeyId;
  /** Null for a key of the command line without a name. */
  name: string | null;
  scopes: Scope[];
  createdAt: number;
  expiresAt: number | null;
  /** Accurate to `KEY_USE_SAMPLE_MS`. */
  lastUsedAt: number | null;
  revokedAt: number | null;
  /** Name of the signing secret, as of the last use. */
  kid: string | null;
}

const COLUMNS =
  raw(`key_id AS keyId, name, scopes, created_at AS createdAt, expires_at AS expiresAt,
  last_used_at AS lastUsedAt, revoked_at AS revokedAt, kid`);

/** A row as stored: scopes are separated by spaces. */
type KeyRow = Omit<ApiKey, "scopes"> & { scopes: string };

const toKey = (row: KeyRow): ApiKey => ({ ...row, scopes: row.scopes.split(" ") as Scope[] });

/**
 * Inserts the account and the key of verified `claims` unless they exist. Returns whether the key
 * was revoked, and whether the account was created. One round trip.
 */
export async function admitKey(
  db: D1Database,
  claims: KeyClaims,
  now: number,
): Promise<{ revoked: boolean; created: boolean }> {
  const [account, , key] = await batch<{ revoked_at: number | null }>(db, [
    sql`INSERT OR IGNORE INTO accounts (account_id, name, created_at)
      VALUES (${claims.accountId}, ${claims.accountName}, ${now})`,
    insertStatement(claims, claims.keyName ?? null, now),
    selectRevocation(claims.keyId),
  ]);
  return {
    revoked: isRevoked(key!),
    created: account!.meta.changes > 0,
  };
}

/** Whether a replica knows a key, and doesn't know that it was revoked. */
export async function isKnownKey(db: D1DatabaseSession, keyId: KeyId): Promise<boolean> {
  const key = sql`SELECT 1 FROM api_keys WHERE key_id = ${keyId} AND revoked_at IS NULL`;
  return (await first(db, key)) !== null;
}

/**
 * Inserts a new key of an existing account. Throws `account_full` if the account has reached its
 * limit of valid keys or of records.
 */
export async function insertKey(
  db: D1Database,
  claims: KeyClaims,
  name: string,
  now: number,
): Promise<ApiKey> {
  const { keyId, accountId, scopes, expiresAt } = claims;
  const quota = new QuotaGuard(accountId, { keys: 1, ...recordBytes(name) });
  const [inserted, usage] = await batch(db, [
    insertStatement(claims, name, now, quota),
    quota.usageStatement,
  ]);
  if (inserted!.meta.changes === 0) quota.throwIfExceeded(usage!.results[0]);
  const unused = { lastUsedAt: null, revokedAt: null, kid: null };
  return { keyId, name, scopes, createdAt: now, expiresAt, ...unused };
}

function insertStatement(
  { keyId, accountId, scopes, expiresAt }: KeyClaims,
  name: string | null,
  now: number,
  quota?: QuotaGuard,
): SqlFragment {
  return sql`INSERT OR IGNORE INTO api_keys
        (key_id, account_id, name, scopes, created_at, expires_at)
      SELECT ${keyId}, ${accountId}, ${name}, ${scopes.join(" ")}, ${now}, ${expiresAt}
      WHERE ${quota?.condition ?? raw("true")}`;
}

/**
 * Records the use of a key, unless it was revoked or a use was recorded less than `sampleMs` ago.
 * Returns whether it was revoked.
 */
export async function touchKey(
  db: D1Database,
  { keyId, kid }: VerifiedKey,
  now: number,
  sampleMs: number,
): Promise<boolean> {
  const [, key] = await batch<{ revoked_at: number | null }>(db, [
    sql`UPDATE api_keys SET last_used_at = ${now}, kid = ${kid}
      WHERE key_id = ${keyId} AND revoked_at IS NULL
        AND COALESCE(last_used_at, 0) <= ${now} - ${sampleMs}`,
    selectRevocation(keyId),
  ]);
  return isRevoked(key!);
}

function selectRevocation(keyId: KeyId): SqlFragment {
  return sql`SELECT revoked_at FROM api_keys WHERE key_id = ${keyId}`;
}

function isRevoked({ results: [key] }: D1Result<{ revoked_at: number | null }>): boolean {
  return key?.revoked_at != null;
}

/** Lists the keys of an account, revoked and expired ones included, oldest first. */
export async function listKeys(
  db: D1Database,
  accountId: AccountId,
  { limit, after }: PageRequest,
): Promise<Page<ApiKey>> {
  const [rows, total] = await batch<KeyRow & { total: number }>(db, [
    sql`SELECT ${COLUMNS} FROM api_keys WHERE account_id = ${accountId} AND key_id > ${after}
      ORDER BY key_id LIMIT ${limit + 1}`,
    sql`SELECT COUNT(*) AS total FROM api_keys WHERE account_id = ${accountId}`,
  ]);
  return toPage(rows!.results.map(toKey), total!.results[0]!.total, limit, (key) => key.keyId);
}

/** Revokes a key for good. Throws `not_found` if the account has no such key. */
export async function revokeKey(
  db: D1Database,
  accountId: AccountId,
  keyId: string,
  now: number,
): Promise<ApiKey> {
  const revoked = sql`UPDATE api_keys SET revoked_at = COALESCE(revoked_at, ${now})
    WHERE key_id = ${keyId} AND account_id = ${accountId} RETURNING ${COLUMNS}`;
  const row = isIdText(["key"], keyId) && (await first<KeyRow>(db, revoked));
  if (!row) throw new AppError("not_found", `There is no API key "${keyId}".`);
  return toKey(row);
}

/** Deletes up to `limit` keys that expired before `before`, oldest first: nothing accepts them. */
export async function pruneExpiredKeys(
  db: D1Database,
  before: number,
  limit: number,
): Promise<void> {
  const expired = sql`SELECT key_id FROM api_keys WHERE expires_at < ${before}
    ORDER BY expires_at LIMIT ${limit}`;
  await run(db, sql`DELETE FROM api_keys WHERE key_id IN (${expired})`);
}
