import { traceOf } from "../errors.ts";
import type { AccountId } from "../ids.ts";
import { remember } from "../isolate-memory.ts";
import { log } from "../log.ts";
import { addUsage, type CountName } from "../store/d1/usage.ts";
import type { InvocationCalls } from "./invocation-calls.ts";

/** Adds to a count of an account's usage. */
export type CountUsage = (name: CountName, count: number) => void;

/** Adds to a count of an account's usage, or of its invocation. */
export type Count = (name: CountName | keyof InvocationCalls, count: number) => void;

/** Usage of an account that this isolate has counted and not yet written. */
export class UsageMeter {
  readonly #accountId: AccountId;
  #counts = new Map<CountName, number>();
  #flushDueAt = 0;

  constructor(accountId: AccountId) {
    this.#accountId = accountId;
  }

  readonly count: CountUsage = (name, count) => {
    if (count > 0) this.#counts.set(name, (this.#counts.get(name) ?? 0) + count);
  };

  /** Adds what was counted to the usage of today. Keeps it for the next time if that fails. */
  async flush(db: D1Database): Promise<void> {
    const counts = this.#counts;
    if (counts.size === 0) return;
    this.#counts = new Map();
    try {
      await addUsage(db, this.#accountId, counts);
    } catch (error) {
      for (const [name, count] of counts) this.count(name, count);
      log("error", "usage.write_failed", { account: this.#accountId, cause: traceOf(error) });
    }
  }

  /** Flushes after `delayMs`, or together with a flush that is due before. */
  async flushLater(db: D1Database, delayMs: number): Promise<void> {
    if (this.#flushDueAt > Date.now()) return;
    this.#flushDueAt = Date.now() + delayMs;
    await scheduler.wait(delayMs);
    await this.flush(db);
  }
}

/** Meters of this isolate, which has served few accounts when it ends. */
const meters = remember(new Map<AccountId, UsageMeter>());

/** Returns the isolate's meter of an account. */
export function usageMeter(accountId: AccountId): UsageMeter {
  const meter = meters.get(accountId) ?? new UsageMeter(accountId);
  meters.set(accountId, meter);
  return meter;
}
