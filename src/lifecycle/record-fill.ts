import { CAPACITY } from "../config.ts";
import { log } from "../log.ts";
import { getDatabaseFill, setAcceptsIngests } from "../store/d1/deployment.ts";
import { listFills, recordFills } from "../store/fill.ts";

/** Records once a day what is used of each resource, and compares D1 with its limit. */
export async function recordFill(env: Env, now: number): Promise<void> {
  if (isFullHour(now)) {
    await recordFills(env.DB, await listFills(env), new Date(now).toISOString().slice(0, 10));
  }
  await checkDatabase(env, now);
}

/**
 * Refuses new ingests while D1 is almost full, and accepts them again below. Logs how full it is
 * when that changes, and, from the share of a warning on, once an hour.
 */
async function checkDatabase(env: Env, now: number): Promise<void> {
  const { usedBytes, limitBytes, acceptsIngests } = await getDatabaseFill(env);
  const isFull = usedBytes >= limitBytes * CAPACITY.databaseFullShare;
  const isChanged = isFull === acceptsIngests;
  if (isChanged) await setAcceptsIngests(env.DB, !isFull);
  const isFilling = usedBytes >= limitBytes * CAPACITY.databaseWarningShare;
  if (!isChanged && !(isFilling && isFullHour(now))) return;
  const fields = { bytes: usedBytes, limit: limitBytes };
  if (isFull) log("error", "lifecycle.database_full", fields);
  else if (isFilling) log("warn", "lifecycle.database_filling", fields);
  else log("info", "lifecycle.ingests_accepted", fields);
}

/** Whether the sweep of a time is the first one of an hour. */
export function isFullHour(now: number): boolean {
  return new Date(now).getUTCMinutes() === 0;
}
