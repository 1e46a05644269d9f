import { createCapability } from "./capability.ts";
import { DecoderProcesses } from "./decoder-processes.ts";
import { MEDIA_MODEL } from "./media-source.ts";
import type { WorkFolder } from "./work-folder.ts";

/** A task on a busy machine takes minutes. */
export const TASK_MS = 600_000;
/**
 * Two slots: one of any account, and one for accounts of which no task runs. Two such queues of
 * processes of the largest size fit into the memory of a container.
 */
const MEDIA_LIMITS = { concurrency: 1, reserve: 1, maxWaiting: 32, timeoutMs: TASK_MS };

/** Creates the capabilities of the routes that decode and convert media. They need no model. */
export function createMediaCapabilities(folder: WorkFolder) {
  const processes = new DecoderProcesses(folder);
  const create = () =>
    createCapability(MEDIA_MODEL, () => Promise.resolve(processes), MEDIA_LIMITS);
  return { media: create(), conversion: create() };
}
