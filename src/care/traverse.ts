import { CARE } from "../config.ts";
import { AppError } from "../errors.ts";
import type { AccountId, IndexId, JobId } from "../ids.ts";
import { isIndexThere, markTraversed } from "../store/traversals.ts";
import { inspectIndex } from "./inspect-index.ts";
import { nextAssets } from "./page.ts";
import { askPictureSpace } from "./picture-space.ts";
import { repairAsset } from "./repair.ts";
import { repairIndex } from "./repair-index.ts";
import { type Report, repairing } from "./report.ts";
import { Paused } from "./work.ts";

interface Traversal {
  accountId: AccountId;
  indexId: IndexId;
  jobId: JobId;
}

/** A report, and the last asset that it tells of; the empty string at the start. */
export interface Reached extends Report {
  after: string;
}

/**
 * Looks through a stretch of an index, from where `reached` says, and makes good what it finds; `reached` is
 * brought up to date with every asset. True when the whole index is done; false where there is more to do, or
 * `progressed` has said that it isn't wanted any more. Throws `not_found` where the index was deleted.
 */
export async function traverse(
  env: Env,
  { accountId, indexId, jobId }: Traversal,
  reached: Reached,
  progressed: (share: number) => Promise<boolean>,
): Promise<boolean> {
  if (!(await isIndexThere(env.DB, indexId))) {
    throw new AppError("not_found", "The index was deleted.");
  }
  const space = await askPictureSpace(env);
  const until = Date.now() + CARE.stretch.ms;
  const request = { limit: CARE.stretch.assets, after: reached.after };
  const page = await nextAssets(env.DB, indexId, request);
  const tell = () => progressed(Math.min(1, reached.assets / Math.max(1, page.total)));
  const pause = async () => {
    if (!(await tell()) || Date.now() > until) throw new Paused();
  };
  try {
    for (const asset of page.items) {
      await pause();
      await repairAsset({ env, asset, jobId, pause }, space, reached, Date.now());
      reached.assets += 1;
      reached.after = asset.assetId;
    }
    await pause();
  } catch (error) {
    if (error instanceof Paused) return false;
    throw error;
  }
  if (page.next !== null) return false;
  for (const finding of await inspectIndex(env, { accountId, indexId }, space, Date.now())) {
    await repairing(reached, null, [finding], async () => {
      await repairIndex(env, indexId, space, finding);
      return null;
    });
  }
  const { findings, repaired } = reached;
  const isCurrent = findings.vectors_stale === repaired.vectors_stale;
  await markTraversed(env.DB, indexId, isCurrent, Date.now());
  return true;
}
