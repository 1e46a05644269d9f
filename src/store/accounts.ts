import type { AccountId } from "../ids.ts";

export interface Account {
  accountId: AccountId;
  name: string;
  email: string | null;
  createdAt: number;
}

/** Throws if D1 doesn't answer a query. */
export async function probeDatabase(db: D1Database): Promise<void> {
  await db.prepare("SELECT 1 FROM accounts LIMIT 1").first();
}

/** Returns an account, which exists since its key was admitted. */
export async function getAccount(db: D1Database, accountId: AccountId): Promise<Account> {
  const account = await db
    .prepare(
      `SELECT account_id AS accountId, name, email, created_at AS createdAt
       FROM accounts WHERE account_id = ?`,
    )
    .bind(accountId)
    .first<Account>();
  return account!;
}

/** Updates the given fields of an account, which exists since its key was admitted. */
export async function updateAccount(
  db: D1Database,
  accountId: AccountId,
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
