import { AppError } from "../errors.ts";
import type { KeyClaims, Scope } from "../keys.ts";
import { type Page, type PageRequest, toPage } from "./rows.ts";

/** A key on record. Times are epoch ms. */
export interface ApiKey {
  keyId: string;
  /** Null where the command line made it. */
  name: string | null;
  scopes: Scope[];
  createdAt: number;
  expiresAt: number | null;
  /** To the minute. */
  lastUsedAt: number | null;
  revokedAt: number | null;
}

const COLUMNS = `key_id AS keyId, name, scopes, created_at AS createdAt, expires_at AS expiresAt,
  last_used_at AS lastUsedAt, revoked_at AS revokedAt`;

/** As it is in the table: words separated by spaces. */
type Row = Omit<ApiKey, "scopes"> & { scopes: string };

const toKey = (row: Row): ApiKey => ({ ...row, scopes: row.scopes.split(" ") as Scope[] });

/**
 * Makes sure the account and the key of `claims` are on record, and tells whether the key was
 * revoked. One round trip.
 */
export async function admitKey(
  db: D1Database,
  claims: KeyClaims,
  now: number,
): Promise<{ revoked: boolean; created: boolean }> {
  const [account, , key] = await db.batch<{ revoked_at: number | null }>([
    db
      .prepare("INSERT OR IGNORE INTO accounts (account_id, name, created_at) VALUES (?, ?, ?)")
      .bind(claims.accountId, claims.accountName, now),
    insertion(db, claims, null, now),
    db.prepare("SELECT revoked_at FROM api_keys WHERE key_id = ?").bind(claims.keyId),
  ]);
  return {
    revoked: key!.results[0]?.revoked_at != null,
    created: account!.meta.changes > 0,
  };
}

/** Puts a new key of an account that exists on record. */
export async function insertKey(
  db: D1Database,
  claims: KeyClaims,
  name: string,
  now: number,
): Promise<ApiKey> {
  await insertion(db, claims, name, now).run();
  const { keyId, scopes, expiresAt } = claims;
  return { keyId, name, scopes, createdAt: now, expiresAt, lastUsedAt: null, revokedAt: null };
}

function insertion(db: D1Database, claims: KeyClaims, name: string | null, now: number) {
  const { keyId, accountId, scopes, expiresAt } = claims;
  return db
    .prepare(
      `INSERT OR IGNORE INTO api_keys (key_id, account_id, name, scopes, created_at, expires_at)
       VALUES (?, ?, ?, ?, ?, ?)`,
    )
    .bind(keyId, accountId, name, scopes.join(" "), now, expiresAt);
}

/** Notes that a key is in use, unless that was noted less than `sampleMs` ago. */
export async function touchKey(
  db: D1Database,
  keyId: string,
  now: number,
  sampleMs: number,
): Promise<void> {
  await db
    .prepare(
      "UPDATE api_keys SET last_used_at = ?1 WHERE key_id = ?2 AND COALESCE(last_used_at, 0) <= ?1 - ?3",
    )
    .bind(now, keyId, sampleMs)
    .run();
}

/** The oldest first, with those that are revoked or have expired. */
export async function listKeys(
  db: D1Database,
  accountId: string,
  { limit, after }: PageRequest,
): Promise<Page<ApiKey>> {
  const [rows, total] = await db.batch<Row & { total: number }>([
    db
      .prepare(
        `SELECT ${COLUMNS} FROM api_keys WHERE account_id = ? AND key_id > ? ORDER BY key_id LIMIT ?`,
      )
      .bind(accountId, after, limit + 1),
    db.prepare("SELECT COUNT(*) AS total FROM api_keys WHERE account_id = ?").bind(accountId),
  ]);
  return toPage(rows!.results.map(toKey), total!.results[0]!.total, limit, (key) => key.keyId);
}

/** Ends a key for good. Throws `not_found` where the account has no such key. */
export async function revokeKey(
  db: D1Database,
  accountId: string,
  keyId: string,
  now: number,
): Promise<ApiKey> {
  const row = await db
    .prepare(
      `UPDATE api_keys SET revoked_at = COALESCE(revoked_at, ?) WHERE key_id = ? AND account_id = ?
       RETURNING ${COLUMNS}`,
    )
    .bind(now, keyId, accountId)
    .first<Row>();
  if (!row) throw new AppError("not_found", `There is no API key "${keyId}".`);
  return toKey(row);
}
