import { EngineError } from "./errors.ts";

export interface QueueLimits {
  /** Tasks that run in parallel. */
  concurrency: number;
  /** Tasks that may wait; one more is rejected with `busy`. */
  maxWaiting: number;
  /** Time limit of one task. */
  timeoutMs: number;
}

/** Time a task has to stop after its limit; beyond it, it is stuck in native code. */
const STUCK_AFTER_MS = 30_000;

/** Runs tasks in order of arrival within `limits`. */
export class Queue {
  readonly #limits: QueueLimits;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /**
   * Settles with `task`. Rejects with `busy` if the queue is full, `failed` at the task's time
   * limit and the signal's reason when the caller disconnects. In the last two cases the task's
   * signal aborts, and its slot stays occupied until the task has settled.
   */
  async run<T>(task: (signal: AbortSignal) => Promise<T>, caller: AbortSignal): Promise<T> {
    caller.throwIfAborted();
    if (this.#running >= this.#limits.concurrency) await this.#waitForSlot(caller);
    else this.#running++;
    const timeout = AbortSignal.timeout(this.#limits.timeoutMs);
    const signal = AbortSignal.any([timeout, caller]);
    const work = caller.aborted ? Promise.reject<T>(caller.reason) : task(signal);
    return Promise.race([work, this.#rejectOnAbort(work, signal, timeout)]);
  }

  /** Rejects when `signal` aborts; passes the slot on when `work` has settled. */
  #rejectOnAbort(
    work: Promise<unknown>,
    signal: AbortSignal,
    timeout: AbortSignal,
  ): Promise<never> {
    return new Promise((_, reject) => {
      let stuckTimer: NodeJS.Timeout | undefined;
      const abort = () => {
        const seconds = this.#limits.timeoutMs / 1000;
        const timeoutError = new EngineError("failed", `This took longer than ${seconds} seconds.`);
        reject(timeout.aborted ? timeoutError : signal.reason);
        stuckTimer = setTimeout(() => {
          throw new Error("A task ignores its abort signal; only a restart helps.");
        }, STUCK_AFTER_MS);
      };
      signal.addEventListener("abort", abort, { once: true });
      const settled = () => {
        signal.removeEventListener("abort", abort);
        clearTimeout(stuckTimer);
        const next = this.#waiting.shift();
        if (next) next();
        else this.#running--;
      };
      work.then(settled, settled);
    });
  }

  /** Resolves when a slot is passed to this caller. */
  #waitForSlot(caller: AbortSignal): Promise<void> {
    if (this.#waiting.length >= this.#limits.maxWaiting) {
      throw new EngineError("busy", "Too many calls are waiting. Try again shortly.");
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(caller.reason);
      };
      const enter = () => {
        caller.removeEventListener("abort", leave);
        resolve();
      };
      this.#waiting.push(enter);
      caller.addEventListener("abort", leave, { once: true });
    });
  }
}
