import { createCapability } from "./capability.ts";
import { MEDIA_MODEL } from "./media-source.ts";

/** A task on a busy machine takes minutes. */
export const TASK_MS = 600_000;
const MEDIA_LIMITS = { concurrency: 2, maxWaiting: 32, timeoutMs: TASK_MS };

/** Creates the capabilities of the routes that decode and convert media. They need no model. */
export function createMediaCapabilities() {
  return {
    media: createCapability(MEDIA_MODEL, () => Promise.resolve(), MEDIA_LIMITS),
    conversion: createCapability(MEDIA_MODEL, () => Promise.resolve(), MEDIA_LIMITS),
  };
}
