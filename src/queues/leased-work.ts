import type * as z from "zod";
import { type InvocationCalls, newInvocationCalls } from "../counts.ts";
import { AppError, type Failure, failureOf, isDeferrable, isRetryable } from "../errors.ts";
import type { AccountId } from "../ids.ts";
import { withLeaseRenewal } from "../lease.ts";
import { log } from "../log.ts";
import { meterEnv, usageMeter } from "../metering/meter-env.ts";
import type { CallPriority } from "../models/call-limiter.ts";

const MIN_RETRY_SECONDS = 5;
const MAX_RETRY_SECONDS = 300;
const MAX_DEFER_SECONDS = 900; // well below `LIFECYCLE.stuckAfterMs`

/** Work of one queue message that one worker at a time does under a lease, stored by its owner. */
export interface LeasedWork<Outcome> {
  /**
   * Takes the lease. False if the work has ended, is no longer wanted or is leased by another
   * worker: the message is then acknowledged.
   */
  claim(): Promise<boolean>;
  renew(): Promise<unknown>;
  renewMs: number;
  /** Attempts at work that fails for a passing reason. Default: as many as the queue makes. */
  maxAttempts?: number;
  run(): Promise<Outcome>;
  logFailure(error: unknown): void;
  /**
   * Gives the lease back. The owner dispatches the work from `dueAt` on if the queue doesn't.
   * Deferred work spends no attempt, and only the owner dispatches it.
   */
  release(failure: Failure, dueAt: number, isDeferred: boolean): Promise<void>;
  /** Records a failure that no retry can change. */
  fail(failure: Failure): Promise<Outcome>;
  /** Cleans up after `run` or `fail`. The message stays in the queue if this rejects. */
  settle(outcome: Outcome): Promise<void>;
}

/**
 * Claims the work, renews its lease while it runs, and decides what happens to the message: retried
 * with back-off after a retryable error, acknowledged otherwise. Work that meets a limit is
 * deferred: a message would be dead-lettered after some deliveries. An error of the owner rejects,
 * and the queue delivers the message again.
 */
export async function runLeased<Outcome>(message: Message, work: LeasedWork<Outcome>) {
  if (!(await work.claim())) return message.ack();
  await withLeaseRenewal(
    () => work.renew(),
    work.renewMs,
    () => runOrRetry(message, work),
  );
}

async function runOrRetry<Outcome>(message: Message, work: LeasedWork<Outcome>): Promise<void> {
  let outcome: Outcome;
  try {
    outcome = await work.run();
  } catch (error) {
    work.logFailure(error);
    if (isDeferrable(error)) {
      const delaySeconds = Math.min(error.retryAfter, MAX_DEFER_SECONDS);
      await work.release(failureOf(error), Date.now() + delaySeconds * 1000, true);
      return message.ack();
    }
    const { attempts } = message;
    const isLast = attempts >= (work.maxAttempts ?? Infinity);
    if (!isLast && isRetryable(error, attempts)) return retry(message, work, error);
    outcome = await work.fail(failureOf(error));
  }
  await work.settle(outcome);
  message.ack();
}

/** Releases the lease before the retry, which the claim of the next delivery would else refuse. */
async function retry(message: Message, work: LeasedWork<unknown>, error: unknown): Promise<void> {
  const retryAfter = error instanceof AppError ? error.retryAfter : undefined;
  const delaySeconds = retryDelaySeconds(message.attempts, retryAfter);
  await work.release(failureOf(error), Date.now() + 2 * delaySeconds * 1000, false);
  message.retry({ delaySeconds });
}

/** 5 s after the first attempt, doubling up to 5 min, and no less than the upstream asks for. */
function retryDelaySeconds(attempt: number, retryAfterSeconds = 0): number {
  const backoffSeconds = MIN_RETRY_SECONDS * 2 ** (attempt - 1);
  return Math.max(retryAfterSeconds, Math.min(backoffSeconds, MAX_RETRY_SECONDS));
}

/**
 * Hands the messages of a batch to `handle`, one after another, which acknowledges or retries its
 * own. A message that doesn't match `schema` never will: it is logged and acknowledged.
 */
export async function eachMessage<Schema extends z.ZodType>(
  batch: MessageBatch,
  schema: Schema,
  handle: (body: z.output<Schema>, message: Message) => Promise<void>,
): Promise<void> {
  for (const message of batch.messages) {
    const parsed = schema.safeParse(message.body);
    if (parsed.success) await handle(parsed.data, message);
    else {
      log("error", "queue.unreadable_message", { queue: batch.queue, message: message.id });
      message.ack();
    }
  }
}

/** Operations of a queue by which a message is billed: it is written, read and deleted. */
const OPERATIONS_PER_MESSAGE = 3;

/**
 * Does the work of a message with an environment that counts what it does for an account, and in
 * `calls`. Adds it to the account's usage even if the work fails.
 */
export async function withMetering<T>(
  env: Env,
  accountId: AccountId,
  priority: CallPriority,
  work: (env: Env, calls: InvocationCalls) => Promise<T>,
): Promise<T> {
  const meter = usageMeter(accountId);
  meter.count("requests", 1);
  meter.count("queueOperations", OPERATIONS_PER_MESSAGE);
  const calls = newInvocationCalls();
  const metered = meterEnv(env, accountId, { priority, calls });
  try {
    return await work(metered, calls);
  } finally {
    await meter.flush(metered.DB);
  }
}
