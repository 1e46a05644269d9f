import { CAPACITY } from "../config.ts";

/** How full D1 is, and whether ingests are accepted as of the last sweep. */
export interface DatabaseFill {
  usedBytes: number;
  limitBytes: number;
  acceptsIngests: boolean;
}

/** Returns the limit of the D1 database in bytes. */
function databaseLimit(env: Pick<Env, "D1_BYTES">): number {
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
