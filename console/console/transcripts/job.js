import { ApiError } from "../shared/api-error.js";
import { apiPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";

const POLL_MS = 500;
const MAX_POLL_MS = 4000;

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Follows a job until it ends and resolves to its result. `onProgress` gets its progress, 0 to 1.
 * Throws an `ApiError` if the job fails or is cancelled.
 */
export async function followJob(id, onProgress) {
  for (let pauseMs = POLL_MS; ; pauseMs = Math.min(pauseMs * 1.5, MAX_POLL_MS)) {
    const { state, progress, result, error } = await readJob(id);
    if (state === "succeeded") return result;
    if (state === "failed") throw new ApiError(0, error?.message ?? "The job failed.");
    if (state === "cancelled") throw new ApiError(0, "The job was cancelled.");
    onProgress(progress);
    await wait(pauseMs);
  }
}

/** Reads a job. A limit on requests is waited for. */
async function readJob(id) {
  for (;;) {
    try {
      return await api("GET", apiPath(["jobs", id]));
    } catch (error) {
      if (error.status !== 429) throw error;
      await wait((error.retryAfter ?? 3) * 1000);
    }
  }
}
