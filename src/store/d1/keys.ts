import { AppError } from "../../errors.ts";
import { type AccountId, isIdText, type KeyId } from "../../ids.ts";
import type { KeyClaims, Scope, VerifiedKey } from "../../keys.ts";
import {
  batch,
  newRow,
  type PageRequest,
  raw,
  readPage,
  sql,
  type SqlFragment,
  d1,
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

type KeyRow = Omit<ApiKey, "scopes"> & { scopes: string };

const toKey = (row: KeyRow): ApiKey => ({ ...row, scopes: row.scopes.split(" ") as Scope[] });

/**
 * Inserts the account and the key of verified `claims` unless they exist. Returns whether the key
 * was revoked, and whether the account was created. One round trip.
 */
export async function admitKey(db: D1Database, claims: KeyClaims, now: number) {
  const [account, , key] = await batch<RevocationRow>(db, [
    sql`INSERT OR IGNORE INTO accounts (account_id, name, created_at)
      VALUES (${claims.accountId}, ${claims.accountName}, ${now})`,
    insertStatement(claims, claims.keyName ?? null, now),
    selectRevocation(claims.keyId),
  ]);
  return { revoked: isRevoked(key!), created: account!.meta.changes > 0 };
}

/** Whether a replica knows a key, and doesn't know that it was revoked. */
export async function isKnownKey(db: D1DatabaseSession, keyId: KeyId): Promise<boolean> {
  const isValid = sql`key_id = ${keyId} AND revoked_at IS NULL`;
  return (await d1(db).first`SELECT 1 FROM api_keys WHERE ${isValid}`) !== null;
}

/**
 * Inserts a new key of an existing account. Throws `account_full` if the account has reached its
 * limit of valid keys or of records.
 */
export async function insertKey(db: D1Database, claims: KeyClaims, name: string, now: number) {
  const { keyId, accountId, scopes, expiresAt } = claims;
  const quota = new QuotaGuard(accountId, { keys: 1, ...recordBytes(name) });
  await quota.write(db, [insertStatement(claims, name, now, quota)]);
  const unused = { lastUsedAt: null, revokedAt: null, kid: null };
  return { keyId, name, scopes, createdAt: now, expiresAt, ...unused };
}

function insertStatement(
  { keyId, accountId, scopes, expiresAt }: KeyClaims,
  name: string | null,
  now: number,
  quota?: QuotaGuard,
): SqlFragment {
  const key = { keyId, accountId, name, scopes: scopes.join(" "), createdAt: now, expiresAt };
  return sql`INSERT OR IGNORE INTO ${newRow("api_keys", key)}
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
  const [, key] = await batch<RevocationRow>(db, [
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

type RevocationRow = { revoked_at: number | null };

function isRevoked({ results: [key] }: D1Result<RevocationRow>): boolean {
  return key?.revoked_at != null;
}

export function listKeys(db: D1Database, accountId: AccountId, request: PageRequest) {
  const from = sql`FROM api_keys WHERE account_id = ${accountId}`;
  return readPage(db, { columns: COLUMNS, from, id: "keyId" }, request, toKey);
}

/** Revokes a key for good. Throws `not_found` if the account has no such key. */
export async function revokeKey(db: D1Database, accountId: AccountId, keyId: string, now: number) {
  const row =
    isIdText(["key"], keyId) &&
    (await d1(db).first<KeyRow>`UPDATE api_keys SET revoked_at = COALESCE(revoked_at, ${now})
    WHERE key_id = ${keyId} AND account_id = ${accountId} RETURNING ${COLUMNS}`);
  if (!row) throw new AppError("not_found", `There is no API key "${keyId}".`);
  return toKey(row);
}

/** Deletes up to `limit` keys that expired before `before`, oldest first: nothing accepts them. */
export async function pruneExpiredKeys(db: D1Database, before: number, limit: number) {
  const expired = sql`SELECT key_id FROM api_keys WHERE expires_at < ${before}
    ORDER BY expires_at LIMIT ${limit}`;
  await d1(db).run`DELETE FROM api_keys WHERE key_id IN (${expired})`;
}
