import { LIFECYCLE } from "../config.ts";
import type { JobId } from "../ids.ts";
import type { Asset } from "../types.ts";

export interface RepairContext {
  env: Env;
  asset: Asset;
  /** The job that repairs. */
  jobId: JobId;
  /**
   * Throws `RepairPaused` if the slice is over or the job was cancelled. Call it between batches
   * of work.
   */
  checkpoint: () => Promise<void>;
}

/**
 * Resolves findings; `about` holds their ids or keys. May run twice, or again after stopping
 * anywhere. Resolves to null, or to a sentence that names data that can't be restored. Throws if
 * nothing can be repaired.
 */
export type Repair = (context: RepairContext, about: string[]) => Promise<string | null>;

/** Thrown to end a slice of a traversal. Repairs that are done stay done. */
export class RepairPaused extends Error {}

/**
 * Makes the checkpoint of a slice that begins now. `onProgress` resolves to false if the job was
 * cancelled.
 */
export function sliceCheckpoint(onProgress: () => Promise<boolean>): RepairContext["checkpoint"] {
  const deadline = Date.now() + LIFECYCLE.slice.maxMs;
  return async () => {
    if (!(await onProgress()) || Date.now() > deadline) throw new RepairPaused();
  };
}

/** Handles items in batches, with a checkpoint before each batch. */
export async function inBatches<Item>(
  items: Item[],
  batchSize: number,
  checkpoint: RepairContext["checkpoint"],
  handle: (batch: Item[]) => Promise<void>,
): Promise<void> {
  for (let i = 0; i < items.length; i += batchSize) {
    await checkpoint();
    await handle(items.slice(i, i + batchSize));
  }
}
