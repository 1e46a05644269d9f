import { EngineError } from "./errors.ts";

export interface QueueLimits {
  /** Tasks that run at the same time. */
  running: number;
  /** Tasks that may wait for their turn; one more is refused with `busy`. */
  waiting: number;
  /** How long one task may run. */
  timeoutMs: number;
}

/** After its time is up a task may take this long to notice; then it is stuck in native code. */
const STUCK_AFTER_MS = 30_000;

/** Runs tasks first come, first served, within `limits`. */
export class Queue {
  readonly #limits: QueueLimits;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /**
   * Settles as `task` does; rejects with `busy` when the queue is full, with `failed` when the
   * task's time is up and with the signal's reason when the caller is gone. The task's signal
   * aborts in the last two cases, and its place stays taken until it has really ended.
   */
  async run<T>(task: (signal: AbortSignal) => Promise<T>, caller: AbortSignal): Promise<T> {
    caller.throwIfAborted();
    if (this.#running >= this.#limits.running) await this.#turn(caller);
    else this.#running++;
    const timeout = AbortSignal.timeout(this.#limits.timeoutMs);
    const signal = AbortSignal.any([timeout, caller]);
    const work = caller.aborted ? Promise.reject<T>(caller.reason) : task(signal);
    return Promise.race([work, this.#overdue(work, signal, timeout)]);
  }

  /** Rejects once `signal` aborts, and hands the place on once `work` has settled. */
  #overdue(work: Promise<unknown>, signal: AbortSignal, timeout: AbortSignal): Promise<never> {
    return new Promise((_, reject) => {
      let stuck: NodeJS.Timeout | undefined;
      const abort = () => {
        const seconds = this.#limits.timeoutMs / 1000;
        const late = new EngineError("failed", `This took longer than ${seconds} seconds.`);
        reject(timeout.aborted ? late : signal.reason);
        stuck = setTimeout(() => {
          throw new Error("A task ignores its end; only a new process helps.");
        }, STUCK_AFTER_MS);
      };
      signal.addEventListener("abort", abort, { once: true });
      const settled = () => {
        signal.removeEventListener("abort", abort);
        clearTimeout(stuck);
        const next = this.#waiting.shift();
        if (next) next();
        else this.#running--;
      };
      work.then(settled, settled);
    });
  }

  /** Resolves when a place was handed to this caller. */
  #turn(caller: AbortSignal): Promise<void> {
    if (this.#waiting.length >= this.#limits.waiting) {
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
