import { AppError } from "../errors.ts";
import type { AccountId, KeyId } from "../ids.ts";
import type { KeyClaims, Scope, VerifiedKey } from "../keys.ts";
import { QuotaGuard } from "./quotas.ts";
import { type Page, type PageRequest, prepare, raw, sql, toPage } from "./sql.ts";

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

const COLUMNS = `key_id AS keyId, name, scopes, created_at AS createdAt, expires_at AS expiresAt,
  last_used_at AS lastUsedAt, revoked_at AS revokedAt, kid`;

/** A row as stored: scopes are separated by spaces. */
type Row = Omit<ApiKey, "scopes"> & { scopes: string };

const toKey = (row: Row): ApiKey => ({ ...row, scopes: row.scopes.split(" ") as Scope[] });

/**
 * Inserts the account and the key of verified `claims` unless they exist. Returns whether the key
 * was revoked, and whether the account was created. One round trip.
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
    insertStatement(db, claims, claims.keyName ?? null, now),
    selectRevocation(db, claims.keyId),
  ]);
  return {
    revoked: isRevoked(key!),
    created: account!.meta.changes > 0,
  };
}

/** Whether a replica knows a key, and doesn't know that it was revoked. */
export async function isKnownKey(db: D1DatabaseSession, keyId: KeyId): Promise<boolean> {
  const key = db.prepare("SELECT 1 FROM api_keys WHERE key_id = ? AND revoked_at IS NULL");
  return (await key.bind(keyId).first()) !== null;
}

/**
 * Inserts a new key of an existing account. Throws `account_full` if the account has reached its
 * limit of valid keys.
 */
export async function insertKey(
  db: D1Database,
  claims: KeyClaims,
  name: string,
  now: number,
): Promise<ApiKey> {
  const { keyId, accountId, scopes, expiresAt } = claims;
  const quota = new QuotaGuard(accountId, { keys: 1 });
  const [inserted, usage] = await db.batch([
    insertStatement(db, claims, name, now, quota),
    quota.usageStatement(db),
  ]);
  if (inserted!.meta.changes === 0) quota.throwIfExceeded(usage!.results[0]);
  const unused = { lastUsedAt: null, revokedAt: null, kid: null };
  return { keyId, name, scopes, createdAt: now, expiresAt, ...unused };
}

function insertStatement(
  db: D1Database,
  { keyId, accountId, scopes, expiresAt }: KeyClaims,
  name: string | null,
  now: number,
  quota?: QuotaGuard,
): D1PreparedStatement {
  return prepare(
    db,
    sql`INSERT OR IGNORE INTO api_keys
        (key_id, account_id, name, scopes, created_at, expires_at)
      SELECT ${keyId}, ${accountId}, ${name}, ${scopes.join(" ")}, ${now}, ${expiresAt}
      WHERE ${quota?.condition ?? raw("true")}`,
  );
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
  const [, key] = await db.batch<{ revoked_at: number | null }>([
    db
      .prepare(
        `UPDATE api_keys SET last_used_at = ?1, kid = ?2
         WHERE key_id = ?3 AND revoked_at IS NULL AND COALESCE(last_used_at, 0) <= ?1 - ?4`,
      )
      .bind(now, kid, keyId, sampleMs),
    selectRevocation(db, keyId),
  ]);
  return isRevoked(key!);
}

function selectRevocation(db: D1Database, keyId: KeyId): D1PreparedStatement {
  return db.prepare("SELECT revoked_at FROM api_keys WHERE key_id = ?").bind(keyId);
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
  const [rows, total] = await db.batch<Row & { total: number }>([
    db
      .prepare(
        `SELECT ${COLUMNS} FROM api_keys WHERE account_id = ? AND key_id > ?
         ORDER BY key_id LIMIT ?`,
      )
      .bind(accountId, after, limit + 1),
    db.prepare("SELECT COUNT(*) AS total FROM api_keys WHERE account_id = ?").bind(accountId),
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
