import { AppError } from "../errors.ts";
import type { AccountId, KeyId } from "../ids.ts";
import type { KeyClaims, Scope, VerifiedKey } from "../keys.ts";
import { Room } from "./limits.ts";
import { type Page, type PageRequest, toPage } from "./rows.ts";

/** A key on record. Times are epoch ms. */
export interface ApiKey {
  keyId: KeyId;
  /** Null where the command line made it. */
  name: string | null;
  scopes: Scope[];
  createdAt: number;
  expiresAt: number | null;
  /** To the minute. */
  lastUsedAt: number | null;
  revokedAt: number | null;
  /** The signing secret's name, as of its last use. */
  signedWith: string | null;
}

const COLUMNS = `key_id AS keyId, name, scopes, created_at AS createdAt, expires_at AS expiresAt,
  last_used_at AS lastUsedAt, revoked_at AS revokedAt,
  signed_with AS signedWith`;

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

/**
 * Puts a new key of an account that exists on record. Throws `account_full` where it has as many that are
 * valid as it may.
 */
export async function insertKey(
  db: D1Database,
  claims: KeyClaims,
  name: string,
  now: number,
): Promise<ApiKey> {
  const { keyId, accountId, scopes, expiresAt } = claims;
  const room = new Room(accountId, { keys: 1 });
  const [inserted, used] = await db.batch([insertion(db, claims, name, now, room), room.look(db)]);
  if (inserted!.meta.changes === 0) room.require(used!.results[0]);
  const unused = { lastUsedAt: null, revokedAt: null, signedWith: null };
  return { keyId, name, scopes, createdAt: now, expiresAt, ...unused };
}

function insertion(
  db: D1Database,
  { keyId, accountId, scopes, expiresAt }: KeyClaims,
  name: string | null,
  now: number,
  room?: Room,
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT OR IGNORE INTO api_keys (key_id, account_id, name, scopes, created_at, expires_at)
       SELECT ?, ?, ?, ?, ?, ? WHERE ${room?.condition ?? "true"}`,
    )
    .bind(keyId, accountId, name, scopes.join(" "), now, expiresAt, ...(room?.bindings ?? []));
}

/** Notes that a key is in use, unless that was noted less than `sampleMs` ago. */
export async function touchKey(
  db: D1Database,
  { keyId, signedWith }: VerifiedKey,
  now: number,
  sampleMs: number,
): Promise<void> {
  await db
    .prepare(
      `UPDATE api_keys SET last_used_at = ?1, signed_with = ?2
       WHERE key_id = ?3 AND COALESCE(last_used_at, 0) <= ?1 - ?4`,
    )
    .bind(now, signedWith, keyId, sampleMs)
    .run();
}

/** The oldest first, with those that are revoked or have expired. */
export async function listKeys(
  db: D1Database,
  accountId: AccountId,
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
