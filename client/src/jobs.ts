import type { ApiPath } from "./api-path.ts";
import { JobFailedError } from "./errors.ts";
import { listOf, type Page } from "./page.ts";
import { wait } from "./retries.ts";
import type { Transport } from "./transport.ts";
import type { Job, PageQuery, RequestOptions } from "./types.ts";

export interface JobWaitOptions {
  /** Gets the record when its state or progress has changed. */
  onProgress?: ((job: Job) => void) | undefined;
  signal?: AbortSignal | undefined;
}

const FIRST_POLL_MS = 250;
const LONGEST_POLL_MS = 5000;

/** Jobs: imports, deletions, repairs, queued searches and others. */
export class Jobs {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Lists the jobs of the account, newest first.
   * @example
   * for await (const { kind, state } of sightline.jobs.list()) console.log(kind, state);
   */
  list(query: PageQuery = {}, options: RequestOptions = {}): Page<Job> {
    return listOf(this.#transport, ["jobs"], "jobs", query, options);
  }

  /**
   * Returns the record of a job.
   * @example
   * const { state, progress } = await sightline.jobs.get(jobId);
   */
  get(id: string, options: RequestOptions = {}): Promise<Job> {
    return this.#transport.json({ method: "GET", path: pathOf(id) }, options);
  }

  /**
   * Cancels a job that has not ended.
   * @example
   * await sightline.jobs.cancel(jobId);
   */
  cancel(id: string, options: RequestOptions = {}): Promise<Job> {
    return this.#transport.json({ method: "DELETE", path: pathOf(id) }, options);
  }

  /**
   * Waits until a job has succeeded. Throws a `JobFailedError` if it fails or is cancelled.
   * @example
   * const { result } = await sightline.jobs.wait(jobId, { onProgress: console.log });
   */
  async wait(id: string, { onProgress, signal }: JobWaitOptions = {}): Promise<Job> {
    const stop = this.#transport.signalOf(signal);
    let known: Job | undefined;
    for (let ms = FIRST_POLL_MS; ; ms = Math.min(2 * ms, LONGEST_POLL_MS)) {
      const job = await this.get(id, { signal });
      if (job.state !== known?.state || job.progress !== known.progress) onProgress?.(job);
      if (job.state === "succeeded") return job;
      if (job.state === "failed" || job.state === "cancelled") throw new JobFailedError(job);
      known = job;
      await wait(ms, stop);
    }
  }
}

function pathOf(id: string): ApiPath {
  return ["jobs", id];
}
