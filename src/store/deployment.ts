import { CAPACITY } from "../config.ts";

/** How full D1 is, and whether ingests are accepted as of the last sweep. */
export interface DatabaseFill {
  usedBytes: number;
  limitBytes: number;
  acceptsIngests: boolean;
}

/** Returns the limit of the D1 database in bytes. */
export function databaseLimit(env: Pick<Env, "D1_BYTES">): number {
  return Number(env.D1_BYTES) || CAPACITY.databaseBytes;
}

export async function getDatabaseFill(env: Env): Promise<DatabaseFill> {
  const { results, meta } = await env.DB.prepare(
    "SELECT accepts_ingests AS acceptsIngests FROM deployment",
  ).run<{ acceptsIngests: number }>();
  return {
    usedBytes: meta.size_after,
    limitBytes: databaseLimit(env),
    acceptsIngests: results[0]!.acceptsIngests === 1,
  };
}

/** Makes every `QuotaGuard` accept or refuse new ingests. */
export async function setAcceptsIngests(db: D1Database, accepts: boolean): Promise<void> {
  await db.prepare("UPDATE deployment SET accepts_ingests = ?").bind(Number(accepts)).run();
}

/** When the work that has waited longest was last changed. Epoch ms; null if none waits. */
export interface OldestWork {
  queuedAssetAt: number | null;
  queuedJobAt: number | null;
}

export async function getOldestWork(db: D1Database): Promise<OldestWork> {
  const row = await db
    .prepare(
      `SELECT (SELECT MIN(updated_at) FROM assets
          WHERE state = 'queued' AND state NOT IN ('ready', 'failed') AND deleted_at IS NULL)
          AS queuedAssetAt,
        (SELECT MIN(updated_at) FROM jobs WHERE state = 'queued' AND due_at IS NOT NULL)
          AS queuedJobAt`,
    )
    .first<OldestWork>();
  return row!;
}
