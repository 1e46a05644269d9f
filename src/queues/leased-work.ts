import { AppError, type Failure, failureOf, isDeferrable, isRetryable } from "../errors.ts";
import { withLeaseRenewal } from "../lease.ts";

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
  /** Does the work and records the result. */
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
export async function runLeased<Outcome>(
  message: Message,
  work: LeasedWork<Outcome>,
): Promise<void> {
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
