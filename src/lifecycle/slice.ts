import { LIFECYCLE } from "../config.ts";
import type { InvocationCalls } from "../counts.ts";
import { inGroups } from "../lists.ts";

/**
 * Records how far a job has come. Throws `SlicePaused` if the slice is over or the job was
 * cancelled. Call it between batches of work, of which each stays far below the platform's limits.
 */
export type Checkpoint = () => Promise<void>;

/** Thrown to end a slice of a job: what one message does of it. What is done stays done. */
export class SlicePaused extends Error {
  readonly delaySeconds: number;

  constructor(delaySeconds = 0) {
    super("The slice is over");
    this.delaySeconds = delaySeconds;
  }
}

/** Whether an invocation that has made these calls should leave the rest of its work to another. */
export function isSpent({ queries, subrequests }: InvocationCalls): boolean {
  const { maxQueries, maxSubrequests } = LIFECYCLE.slice;
  return queries >= maxQueries || subrequests >= maxSubrequests;
}

/**
 * Makes the checkpoint of a slice that begins now. `calls` are those of its invocation.
 * `onProgress` resolves to false if the job was cancelled.
 */
export function sliceCheckpoint(calls: InvocationCalls, onProgress: () => Promise<boolean>) {
  const deadline = Date.now() + LIFECYCLE.slice.maxMs;
  return async () => {
    const isLive = await onProgress();
    if (!isLive || isSpent(calls) || Date.now() > deadline) throw new SlicePaused();
  };
}

export async function inBatches<Item>(
  items: Item[],
  batchSize: number,
  checkpoint: Checkpoint,
  handle: (batch: Item[]) => Promise<void>,
): Promise<void> {
  for (const batch of inGroups(items, batchSize)) {
    await checkpoint();
    await handle(batch);
  }
}
