import type { AccountId } from "../../ids.ts";
import { d1 } from "../sql.ts";

export interface Account {
  accountId: AccountId;
  name: string;
  email: string | null;
  createdAt: number;
}

export async function probeDatabase(db: D1Database): Promise<void> {
  await d1(db).first`SELECT 1 FROM accounts LIMIT 1`;
}

export async function getAccount(db: D1Database, accountId: AccountId): Promise<Account> {
  const account = await d1(db).first<Account>`
    SELECT account_id AS accountId, name, email, created_at AS createdAt
      FROM accounts WHERE account_id = ${accountId}`;
  return account!;
}

/** Returns the bytes that an account's records take in D1, which triggers sum. */
export async function getRecordBytes(db: D1Database, accountId: AccountId): Promise<number> {
  return (await d1(db)
    .firstValue<number>`SELECT record_bytes FROM accounts WHERE account_id = ${accountId}`)!;
}

export async function updateAccount(
  db: D1Database,
  accountId: AccountId,
  change: { name?: string | undefined; email?: string | undefined },
): Promise<Account> {
  const account = await d1(db).first<Account>`UPDATE accounts
      SET name = COALESCE(${change.name ?? null}, name), email = COALESCE(${change.email ?? null},
        email)
      WHERE account_id = ${accountId}
      RETURNING account_id AS accountId, name, email, created_at AS createdAt`;
  return account!;
}
