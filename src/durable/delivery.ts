import { WEBHOOKS } from "../config.ts";
import type { DeliveryOutcome } from "../fetching/webhook.ts";
import type { Delivery } from "../types.ts";

/*
 * State machine of one webhook delivery, as pure functions. A transition that the present phase
 * doesn't allow returns undefined.
 *
 * queued (a queue message is out) → sending (a consumer has the lease) → delivered, failed, or
 * scheduled for the next attempt → queued
 */

export function createDelivery(
  event: Pick<Delivery, "seq" | "type" | "payload" | "url">,
  now: number,
): Delivery {
  const { seq, type, payload, url } = event;
  const unsent = { attempts: 0, endedAt: null, statusCode: null, error: null };
  return {
    seq,
    type,
    payload,
    url,
    ...unsent,
    phase: "queued",
    createdAt: now,
    dueAt: redispatchAt(now),
  };
}

/** Leases a delivery to a consumer. Allowed once per queue message. */
export function claim(delivery: Delivery, now: number): Delivery | undefined {
  if (delivery.phase !== "queued") return undefined;
  const attempts = delivery.attempts + 1;
  return { ...delivery, phase: "sending", attempts, dueAt: now + WEBHOOKS.leaseMs };
}

/**
 * Records the outcome of an attempt, and schedules the next one after a failure. `chance`, from 0
 * to 1, spreads the retries of deliveries that failed together.
 */
export function settle(
  delivery: Delivery,
  outcome: DeliveryOutcome,
  now: number,
  chance: number,
): Delivery | undefined {
  const { statusCode, error } = outcome;
  if (delivery.dueAt === null) return undefined;
  if (error === null) return end({ ...delivery, statusCode, error }, "delivered", now);
  if (delivery.phase !== "sending") return undefined;
  const dueAt = nextAttemptAt(delivery, now, chance, (outcome.retryAfter ?? 0) * 1000);
  const attempted = { ...delivery, statusCode, error };
  return dueAt === null
    ? end(attempted, "failed", now)
    : { ...attempted, phase: "scheduled", dueAt };
}

/**
 * Handles a delivery that is due: queues the next attempt, settles an attempt whose lease has
 * expired, and fails a delivery whose messages were lost for `WEBHOOKS.maxAgeMs`.
 */
export function redispatchOverdue(delivery: Delivery, now: number, chance: number): Delivery {
  if (delivery.phase === "sending") {
    return settle(delivery, { statusCode: null, error: "The attempt was cut off." }, now, chance)!;
  }
  const isTooOld = delivery.phase === "queued" && now >= delivery.createdAt + WEBHOOKS.maxAgeMs;
  if (isTooOld) return fail(delivery, "It could not be sent for a day.", now);
  return { ...delivery, phase: "queued", dueAt: redispatchAt(now) };
}

function fail(delivery: Delivery, error: string, now: number): Delivery {
  return end({ ...delivery, error }, "failed", now);
}

/**
 * Returns when to make the next attempt after `attempts` failed ones, in epoch ms. Null if there is
 * none. Follows the schedule of Standard Webhooks (https://www.standardwebhooks.com, version 1.0.0)
 * within a day. `retryAfterMs` is the receiver's `Retry-After`.
 */
export function nextAttemptAt(
  { attempts, createdAt }: Pick<Delivery, "attempts" | "createdAt">,
  now: number,
  chance: number,
  retryAfterMs: number,
): number | null {
  const endsAt = createdAt + WEBHOOKS.maxAgeMs;
  const scheduledMs = WEBHOOKS.retryMs[attempts - 1];
  if (scheduledMs === undefined || now >= endsAt) return null;
  const delayMs = Math.max(scheduledMs * (1 + WEBHOOKS.jitter * chance), retryAfterMs);
  return Math.min(now + Math.round(delayMs), endsAt);
}

function redispatchAt(now: number): number {
  return now + WEBHOOKS.redispatchMs;
}

function end(delivery: Delivery, phase: "delivered" | "failed", now: number): Delivery {
  return { ...delivery, phase, dueAt: null, endedAt: now };
}
