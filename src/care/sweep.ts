import { log } from "../log.ts";
import { listLostAssets, type LostAsset } from "../store/assets.ts";
import { listHiddenIndices } from "../store/indices.ts";
import { newId } from "../ids.ts";
import { insertJob } from "../store/jobs.ts";
import type { JobMessage } from "../queues/messages.ts";

/** What is younger may still be under way. */
const SETTLED_MS = 15 * 60 * 1000;
/** Of each kind, in one sweep: the next one takes more. */
const AT_ONCE = 100;

/**
 * Picks up what was cut off between two stores: assets on record that their index's object never
 * heard of, and deleted indices whose content is still there.
 */
export async function sweep(env: Env, now: number): Promise<void> {
  const before = now - SETTLED_MS;
  const lost = await listLostAssets(env.DB, before, AT_ONCE);
  await Promise.all(lost.map((asset) => restart(env, asset)));
  const hidden = await listHiddenIndices(env.DB, before, AT_ONCE);
  for (const owner of hidden) {
    const job: JobMessage = { kind: "delete_index", jobId: newId("job", now), ...owner };
    await insertJob(env.DB, { ...job, now });
    await env.JOBS.send(job);
  }
  log("info", "care.swept", { restarted: lost.length, deletions: hidden.length });
}

async function restart(env: Env, { indexId, assetId, assetType }: LostAsset): Promise<void> {
  await env.MEDIA_INDEX.getByName(indexId).start(indexId, assetId, assetType);
}
