import type { AccountId } from "../../ids.ts";
import { first, firstValue, sql } from "../sql.ts";

export interface Account {
  accountId: AccountId;
  name: string;
  email: string | null;
  createdAt: number;
}

/** Throws if D1 doesn't answer a query. */
export async function probeDatabase(db: D1Database): Promise<void> {
  await first(db, sql`SELECT 1 FROM accounts LIMIT 1`);
}

/** Returns an account, which exists since its key was admitted. */
export async function getAccount(db: D1Database, accountId: AccountId): Promise<Account> {
  const account = await first<Account>(
    db,
    sql`SELECT account_id AS accountId, name, email, created_at AS createdAt
      FROM accounts WHERE account_id = ${accountId}`,
  );
  return account!;
}

/** Returns the bytes that an account's records take in D1, which triggers sum. */
export async function getRecordBytes(db: D1Database, accountId: AccountId): Promise<number> {
  const sum = sql`SELECT record_bytes FROM accounts WHERE account_id = ${accountId}`;
  return (await firstValue<number>(db, sum))!;
}

/** Updates the given fields of an account, which exists since its key was admitted. */
export async function updateAccount(
  db: D1Database,
  accountId: AccountId,
  change: { name?: string | undefined; email?: string | undefined },
): Promise<Account> {
  const account = await first<Account>(
    db,
    sql`UPDATE accounts
      SET name = COALESCE(${change.name ?? null}, name), email = COALESCE(${change.email ?? null},
        email)
      WHERE account_id = ${accountId}
      RETURNING account_id AS accountId, name, email, created_at AS createdAt`,
  );
  return account!;
}
