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

  list(query: PageQuery = {}, options: RequestOptions = {}): Page<Job> {
    return listOf(this.#transport, "/jobs", "jobs", query, options);
  }

  get(id: string, options: RequestOptions = {}): Promise<Job> {
    return this.#transport.json({ method: "GET", path: pathOf(id) }, options);
  }

  cancel(id: string, options: RequestOptions = {}): Promise<Job> {
    return this.#transport.json({ method: "DELETE", path: pathOf(id) }, options);
  }

  /** Waits until a job has succeeded. Throws a `JobFailedError` if it fails or is cancelled. */
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

function pathOf(id: string): string {
  return `/jobs/${encodeURIComponent(id)}`;
}
