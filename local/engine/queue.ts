import { EngineError } from "./errors.ts";

export interface QueueLimits {
  /** Tasks that run in parallel. */
  concurrency: number;
  /** Tasks that run beside them, of accounts of which no other runs. None by default. */
  reserve?: number;
  /** Tasks that may wait; one more is rejected with `busy`. */
  maxWaiting: number;
  /** Time limit of one task. */
  timeoutMs: number;
}

interface WaitingTask {
  account: string;
  enter: () => void;
  reject: (reason: unknown) => void;
}

/** Accounts of which the queue remembers when their last task began. */
const MAX_SERVED = 1_000;
/** Time a task has to stop after its limit on a busy machine; then it is stuck in native code. */
const STUCK_AFTER_MS = 300_000;

/**
 * Runs tasks within `limits`. Accounts take turns, whatever the number of their tasks; those of one
 * account run in order of arrival.
 */
export class Queue {
  readonly #limits: QueueLimits;
  readonly #waiting: WaitingTask[] = [];
  /** Accounts of the running tasks, one for each task. */
  readonly #running: string[] = [];
  /** Accounts in the order in which a task of theirs began last. */
  #served: string[] = [];

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /**
   * Settles with `task`. Rejects with `busy` if the queue is full, `failed` at the task's time
   * limit and the signal's reason when the caller disconnects. In the last two cases the task's
   * signal aborts, and its slot stays occupied until the task has settled.
   */
  async run<T>(
    task: (signal: AbortSignal) => Promise<T>,
    caller: AbortSignal,
    account = "",
  ): Promise<T> {
    caller.throwIfAborted();
    if (this.#hasSlot(account)) this.#begin(account);
    else await this.#waitForSlot(caller, account);
    const timeout = AbortSignal.timeout(this.#limits.timeoutMs);
    const signal = AbortSignal.any([timeout, caller]);
    const work = caller.aborted ? Promise.reject<T>(caller.reason) : task(signal);
    return Promise.race([work, this.#rejectOnAbort(work, signal, timeout, account)]);
  }

  /** Rejects when `signal` aborts; passes the slot on when `work` has settled. */
  #rejectOnAbort(
    work: Promise<unknown>,
    signal: AbortSignal,
    timeout: AbortSignal,
    account: string,
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
        this.#running.splice(this.#running.indexOf(account), 1);
        this.#fillSlots();
      };
      work.then(settled, settled);
    });
  }

  #hasSlot(account: string): boolean {
    const { concurrency, reserve = 0 } = this.#limits;
    const slots = this.#running.includes(account) ? concurrency : concurrency + reserve;
    return this.#running.length < slots;
  }

  #begin(account: string): void {
    this.#running.push(account);
    const others = this.#served.filter((one) => one !== account);
    this.#served = [...others, account].slice(-MAX_SERVED);
  }

  /** Begins waiting tasks: first those of the account whose last one began longest ago. */
  #fillSlots(): void {
    const turn = ({ account }: WaitingTask) => this.#served.indexOf(account);
    for (;;) {
      const ready = this.#waiting.filter(({ account }) => this.#hasSlot(account));
      const next = ready.toSorted((a, b) => turn(a) - turn(b))[0]; // the sort is stable
      if (!next) break;
      this.#leave(next);
      this.#begin(next.account);
      next.enter();
    }
  }

  /** Resolves when a slot is passed to this caller. Errors: `busy`. */
  #waitForSlot(caller: AbortSignal, account: string): Promise<void> {
    if (this.#waiting.length >= this.#limits.maxWaiting) this.#makeRoom(account);
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#leave(waiting);
        reject(caller.reason);
      };
      const enter = () => {
        caller.removeEventListener("abort", leave);
        resolve();
      };
      const waiting = { account, enter, reject };
      this.#waiting.push(waiting);
      caller.addEventListener("abort", leave, { once: true });
    });
  }

  /**
   * Rejects the last waiting task of the account that has most, unless that is as many as `account`
   * would have. Errors: `busy`.
   */
  #makeRoom(account: string): void {
    const of = (one: string) => this.#waiting.filter((waiting) => waiting.account === one);
    const accounts = [...new Set(this.#waiting.map((waiting) => waiting.account))];
    const most = accounts.map(of).toSorted((a, b) => b.length - a.length)[0] ?? [];
    const last = most.at(-1);
    const busy = new EngineError("busy", "Too many calls are waiting. Try again shortly.");
    if (!last || most.length <= of(account).length + 1) throw busy;
    this.#leave(last);
    last.reject(busy);
  }

  #leave(waiting: WaitingTask): void {
    const index = this.#waiting.indexOf(waiting);
    if (index >= 0) this.#waiting.splice(index, 1);
  }
}
