import { CAPACITY } from "../../config.ts";
import { first, run, sql } from "../sql.ts";

/** How full D1 is, and whether ingests are accepted as of the last sweep. */
export interface DatabaseFill {
  usedBytes: number;
  limitBytes: number;
  acceptsIngests: boolean;
  /** When the cron trigger last ran, in epoch ms; null before its first run. */
  sweptAt: number | null;
}

/** Returns the limit of the D1 database in bytes. */
export function databaseLimit(env: Pick<Env, "D1_BYTES">): number {
  return Number(env.D1_BYTES) || CAPACITY.databaseBytes;
}

export async function getDatabaseFill(env: Env): Promise<DatabaseFill> {
  const { results, meta } = await run<{ acceptsIngests: number; sweptAt: number | null }>(
    env.DB,
    sql`SELECT accepts_ingests AS acceptsIngests, swept_at AS sweptAt FROM deployment`,
  );
  return {
    usedBytes: meta.size_after,
    limitBytes: databaseLimit(env),
    acceptsIngests: results[0]!.acceptsIngests === 1,
    sweptAt: results[0]!.sweptAt,
  };
}

/** Records that a sweep ended. */
export async function setSweptAt(db: D1Database, now: number): Promise<void> {
  await run(db, sql`UPDATE deployment SET swept_at = ${now}`);
}

/** Makes every `QuotaGuard` accept or refuse new ingests. */
export async function setAcceptsIngests(db: D1Database, accepts: boolean): Promise<void> {
  await run(db, sql`UPDATE deployment SET accepts_ingests = ${Number(accepts)}`);
}

/** When the work that has waited longest was last changed. Epoch ms; null if none waits. */
export interface OldestWork {
  queuedAssetAt: number | null;
  queuedJobAt: number | null;
}

export async function getOldestWork(db: D1Database): Promise<OldestWork> {
  const row = await first<OldestWork>(
    db,
    sql`SELECT (SELECT MIN(updated_at) FROM assets
        WHERE state = 'queued' AND state NOT IN ('ready', 'failed') AND deleted_at IS NULL)
        AS queuedAssetAt,
      (SELECT MIN(updated_at) FROM jobs WHERE state = 'queued' AND due_at IS NOT NULL)
        AS queuedJobAt`,
  );
  return row!;
}
