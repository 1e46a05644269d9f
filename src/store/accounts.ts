import type { KeyClaims } from "../keys.ts";

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
    db
      .prepare(
        `INSERT OR IGNORE INTO api_keys (key_id, account_id, scopes, created_at, expires_at)
         VALUES (?, ?, ?, ?, ?)`,
      )
      .bind(claims.keyId, claims.accountId, claims.scopes.join(" "), now, claims.expiresAt),
    db.prepare("SELECT revoked_at FROM api_keys WHERE key_id = ?").bind(claims.keyId),
  ]);
  return {
    revoked: key!.results[0]?.revoked_at != null,
    created: account!.meta.changes > 0,
  };
}

export interface Account {
  accountId: string;
  name: string;
  email: string | null;
  createdAt: number;
}

/** Sets what is given of name and email; the account exists, since its key was admitted. */
export async function updateAccount(
  db: D1Database,
  accountId: string,
  change: { name?: string | undefined; email?: string | undefined },
): Promise<Account> {
  const account = await db
    .prepare(
      `UPDATE accounts SET name = COALESCE(?, name), email = COALESCE(?, email)
       WHERE account_id = ?
       RETURNING account_id AS accountId, name, email, created_at AS createdAt`,
    )
    .bind(change.name ?? null, change.email ?? null, accountId)
    .first<Account>();
  return account!;
}
