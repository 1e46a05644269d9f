import {
  type Count,
  countCalls,
  type CountName,
  type InvocationCalls,
  newInvocationCalls,
} from "../counts.ts";
import { AppError, traceOf } from "../errors.ts";
import type { AccountId } from "../ids.ts";
import { remember } from "../isolate-memory.ts";
import { log } from "../log.ts";
import type { ExternalDecoder } from "../media/decoder.ts";
import { type CallPriority, limitCalls } from "../models/call-limiter.ts";
import { addUsage } from "../store/d1/usage.ts";
import { guardBucket } from "./guard-bucket.ts";

/** Usage of an account that this isolate has counted and not yet written. */
export class UsageMeter {
  readonly #accountId: AccountId;
  #counts = new Map<CountName, number>();
  #flushDueAt = 0;

  constructor(accountId: AccountId) {
    this.#accountId = accountId;
  }

  count(name: CountName, count: number): void {
    if (count > 0) this.#counts.set(name, (this.#counts.get(name) ?? 0) + count);
  }

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

export function usageMeter(accountId: AccountId): UsageMeter {
  const meter = meters.get(accountId) ?? new UsageMeter(accountId);
  meters.set(accountId, meter);
  return meter;
}

/** Counts of calls that are billed by the call: of models, decoders and vectors. */
const BILLED: ReadonlySet<string> = new Set<CountName>([
  "modelCalls",
  "frames",
  "images",
  "convertedSeconds",
  "dimensionsQueried",
]);

/** Accounts whose last check refused them, in this isolate. */
const refused = remember(new Set<AccountId>());
const MAX_REFUSED = 10_000;

/**
 * Lets an invocation make billed calls once its account is admitted, which is when a check of its
 * quota begins. If the check fails, every later call throws its error.
 */
class CostGate {
  readonly #accountId: AccountId;
  #state: "closed" | "open" | Error = "closed";

  constructor(accountId: AccountId) {
    this.#accountId = accountId;
  }

  /** Whether calls may be made while a check is in progress: the last one admitted the account. */
  get isExpectedToOpen(): boolean {
    return !refused.has(this.#accountId);
  }

  /** Opens the gate, until `check` rejects. Resolves and rejects as `check` does. */
  async admit<T>(check: Promise<T>): Promise<T> {
    if (this.isExpectedToOpen) this.#state = "open";
    try {
      const result = await check;
      this.#state = "open";
      refused.delete(this.#accountId);
      return result;
    } catch (error) {
      this.#state = error instanceof Error ? error : new Error("The check failed");
      if (refused.size >= MAX_REFUSED) refused.clear();
      const isRefusal = error instanceof AppError && /^(cost_)?limit_reached$/.test(error.code);
      if (isRefusal) refused.add(this.#accountId);
      throw error;
    }
  }

  /** Opens the gate for work that no quota refuses: deletions. */
  open(): void {
    this.#state = "open";
  }

  /** Throws before a billed call that is counted as `name`, unless the gate is open. */
  require(name: string): void {
    if (this.#state === "open" || !BILLED.has(name)) return;
    if (this.#state !== "closed") throw this.#state;
    throw new Error(`A call that is billed as ${name} was made before its account was admitted`);
  }
}

/** The gates of metered environments. */
const gates = new WeakMap<Env, CostGate>();

export function costGate(env: Env): CostGate {
  const gate = gates.get(env);
  if (!gate) throw new Error("The environment is not metered");
  return gate;
}

/** For what an environment works. */
interface MeteredWork {
  priority: CallPriority;
  /** Calls of the invocation so far, which are counted, too. */
  calls?: InvocationCalls;
  /** Cancels model calls. */
  signal?: AbortSignal;
}

/**
 * Returns an environment whose bindings count what they do for an account, and whose model calls
 * are limited. Requests, messages and jobs of an account do all their work with one. Its bindings
 * hold the account to its quotas: nothing is stored that isn't charged, and no billed call is made
 * before `costGate` admits it. Calls that the limiter refuses aren't counted.
 */
export function meterEnv(
  env: Env,
  accountId: AccountId,
  { priority, calls = newInvocationCalls(), signal }: MeteredWork,
): Env {
  const gate = new CostGate(accountId);
  const meter = usageMeter(accountId);
  const count: Count = (name, added) => {
    if (name === "queries" || name === "subrequests") calls[name] += added;
    else {
      gate.require(name);
      meter.count(name, added);
    }
  };
  const metered = {
    ...countEnv(env, count, accountId),
    FRAMES: countCalls(env.FRAMES, count, () => {
      count("frames", 1);
      count("subrequests", 1);
    }),
    IMAGES: countCalls(env.IMAGES, count, (name) => {
      if (name === "input") count("images", 1); // `info` is free
      count("subrequests", 1);
    }),
  };
  const guarded = { ...metered, AI: limitCalls(env.AI, metered, priority, count, signal) };
  gates.set(guarded, gate);
  return guarded;
}

/** Returns an environment whose bindings count their calls, but for models and decoders. */
export function countInvocation(env: Env, calls: InvocationCalls): Env {
  const count: Count = (name, added) => {
    if (name === "queries" || name === "subrequests") calls[name] += added;
  };
  return countEnv(env, count, null);
}

/**
 * Returns an environment whose bindings count what they do, but for models and decoders. The rows
 * and calls of databases and objects are counted where these are called.
 */
function countEnv(env: Env, count: Count, accountId: AccountId | null): Env {
  const DB = countCalls(env.DB, count);
  const { DECODER }: ExternalDecoder = env;
  const countSubrequest = () => count("subrequests", 1);
  const vectors = Object.entries(env)
    .filter(([name]) => /^(TEXT|IMAGE)_VECTORS_\d+$/.test(name))
    .map(([name, index]) => [name, countVectors(index as VectorizeIndex, count)]);
  return {
    ...env,
    ...(Object.fromEntries(vectors) as Pick<Env, "TEXT_VECTORS_1" | "IMAGE_VECTORS_1">),
    DB,
    MEDIA: guardBucket(env.MEDIA, DB, accountId, count),
    INGEST: countCalls(env.INGEST, count, countSubrequest),
    JOBS: countCalls(env.JOBS, count, countSubrequest),
    MEDIA_INDEX: countCalls(env.MEDIA_INDEX, count),
    INDEX_DATABASE: countCalls(env.INDEX_DATABASE, count),
    MODEL_LIMITER: countCalls(env.MODEL_LIMITER, count),
    ...(DECODER && { DECODER: countCalls(DECODER, count) }),
    ...(accountId && { DECODER_ACCOUNT: accountId }),
  };
}

/** Wraps a Vectorize index to count the vectors written and the dimensions queried. */
function countVectors(index: VectorizeIndex, count: Count): VectorizeIndex {
  return countCalls(index, count, (name, [argument]) => {
    count("subrequests", 1);
    const lengthOf = () => (argument as ArrayLike<unknown>).length;
    if (name === "query") count("dimensionsQueried", lengthOf());
    if (name === "upsert") count("vectorsWritten", lengthOf());
  });
}
