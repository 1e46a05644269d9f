import type { AccountId, AssetId } from "../../ids.ts";
import type { AssetRef } from "../../types.ts";
import type { ChargedTo } from "../r2/object-keys.ts";
import { batch, inList, run, sql, type SqlFragment } from "../sql.ts";
import { QuotaGuard } from "./quotas.ts";

/*
 * Bytes of objects in R2 that no row of `assets` or `uploads` counts. They are charged before they
 * are written, and counted again when an ingest, a job or a traversal of their asset ends.
 */

/** Time after which a charge ends that no asset has taken over, such as that of a query clip. */
const EXPIRY_MS = 2 * 24 * 3600 * 1000; // R2 deletes clips and lines after a day

/** Charges bytes to an account before they are written. Throws `account_full`. */
export async function chargeBytes(
  db: D1Database,
  charge: ChargedTo & { accountId: AccountId },
  bytes: number,
): Promise<void> {
  const quota = new QuotaGuard(charge.accountId, { stored_bytes: bytes });
  const [charged, usage] = await batch(db, [
    insertCharge(charge, bytes, quota.condition),
    quota.usageStatement,
  ]);
  if (charged!.meta.changes === 0) quota.throwIfExceeded(usage!.results[0]);
}

/** Charges bytes that must be stored, whatever the account's room. */
export async function chargeAnyway(
  db: D1Database,
  charge: ChargedTo & { accountId: AccountId },
  bytes: number,
): Promise<void> {
  await run(db, insertCharge(charge, bytes, sql`true`));
}

function insertCharge(
  { owner, accountId }: ChargedTo & { accountId: AccountId },
  bytes: number,
  condition: SqlFragment,
): SqlFragment {
  const now = Date.now();
  return sql`INSERT INTO object_bytes (owner, account_id, bytes, charged_at, expires_at)
    SELECT ${owner}, ${accountId}, ${bytes}, ${now},
      IIF(EXISTS (SELECT 1 FROM assets WHERE asset_id = ${owner}), NULL, ${now + EXPIRY_MS})
    WHERE ${condition}
    ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes, charged_at = excluded.charged_at,
      expires_at = excluded.expires_at`;
}

/** Ends the charge of bytes that are deleted. */
export async function releaseBytes(
  db: D1Database,
  owner: ChargedTo["owner"],
  bytes: number,
): Promise<void> {
  await run(db, releaseStatement(owner, bytes));
}

/** Ends the charge of bytes that a row counts from this statement on. */
export function releaseStatement(owner: ChargedTo["owner"], bytes: number): SqlFragment {
  return sql`UPDATE object_bytes SET bytes = MAX(0, bytes - ${bytes}) WHERE owner = ${owner}`;
}

/**
 * Ends the charge of an asset's file before a statement that inserts the asset's row, which counts
 * it. Changes nothing if there is such a row.
 */
export function transferStatement(assetId: AssetId, bytes: number): SqlFragment {
  return sql`UPDATE object_bytes SET bytes = MAX(0, bytes - ${bytes})
    WHERE owner = ${assetId} AND NOT EXISTS (SELECT 1 FROM assets WHERE asset_id = owner)`;
}

/** Ends all charges of assets, clips and jobs whose objects are deleted. */
export async function releaseAllBytes(
  db: D1Database,
  owners: readonly ChargedTo["owner"][],
): Promise<void> {
  await run(db, releaseAllStatement(owners));
}

export function releaseAllStatement(owners: readonly ChargedTo["owner"][]): SqlFragment {
  return sql`DELETE FROM object_bytes WHERE owner ${inList(owners)}`;
}

/** Deletes charges that nothing has taken over: their objects are deleted, too. */
export async function deleteExpiredCharges(db: D1Database, now: number): Promise<void> {
  const expired = sql`DELETE FROM object_bytes WHERE expires_at < ${now}
    AND NOT EXISTS (SELECT 1 FROM assets WHERE asset_id = owner)`;
  await run(db, expired);
}

/** Records the bytes of an asset's objects as counted at `now`, unless they were charged since. */
export async function recordBytesOf(
  db: D1Database,
  { accountId, assetId }: AssetRef,
  bytes: number,
  now: number,
): Promise<void> {
  const recounted = sql`INSERT INTO object_bytes (owner, account_id, bytes, charged_at)
    SELECT asset_id, ${accountId}, ${bytes}, ${now} FROM assets WHERE asset_id = ${assetId}
    ON CONFLICT DO UPDATE SET bytes = excluded.bytes, expires_at = NULL
      WHERE bytes <> excluded.bytes AND charged_at < excluded.charged_at`;
  await run(db, recounted);
}
