import { WEBHOOKS } from "../config.ts";
import type { Outcome } from "../fetching/webhook.ts";
import type { Delivery } from "../types.ts";

/*
 * The life of one webhook message, as pure functions. A transition that doesn't hold gives undefined.
 * waiting → asked (a queue's message is out) → sending (its consumer is at it) → delivered, failed, or
 * waiting again.
 */

export function begin(event: Pick<Delivery, "seq" | "type" | "payload">, now: number): Delivery {
  const { seq, type, payload } = event;
  const none = { attempts: 0, endedAt: null, status: null, problem: null };
  return { seq, type, payload, ...none, phase: "asked", createdAt: now, dueAt: askedUntil(now) };
}

/** A consumer takes it. Holds once per message that was asked for. */
export function claim(delivery: Delivery, now: number): Delivery | undefined {
  if (delivery.phase !== "asked") return undefined;
  const attempts = delivery.attempts + 1;
  return { ...delivery, phase: "sending", attempts, dueAt: now + WEBHOOKS.leaseMs };
}

/** `chance` (0 to 1) spreads those that failed together. */
export function settle(
  delivery: Delivery,
  outcome: Outcome,
  now: number,
  chance: number,
): Delivery | undefined {
  const { status, problem } = outcome;
  if (delivery.dueAt === null) return undefined;
  if (problem === null) return over({ ...delivery, status, problem }, "delivered", now);
  if (delivery.phase !== "sending") return undefined;
  const dueAt = nextTry(delivery, now, chance, (outcome.retryAfter ?? 0) * 1000);
  const tried = { ...delivery, status, problem };
  return dueAt === null ? over(tried, "failed", now) : { ...tried, phase: "waiting", dueAt };
}

/** What becomes of a delivery whose time has come: asked for (again), or failed. */
export function overdue(delivery: Delivery, now: number, chance: number): Delivery {
  if (delivery.phase === "sending") {
    return settle(delivery, { status: null, problem: "The attempt was cut off." }, now, chance)!;
  }
  const isLost = delivery.phase === "asked" && now >= delivery.createdAt + WEBHOOKS.giveUpMs;
  if (isLost) return fail(delivery, "It could not be sent for a day.", now);
  return { ...delivery, phase: "asked", dueAt: askedUntil(now) };
}

function fail(delivery: Delivery, problem: string, now: number): Delivery {
  return over({ ...delivery, problem }, "failed", now);
}

/**
 * Epoch ms of the next attempt, after `attempts` that failed, or null where there is none: the schedule
 * of Standard Webhooks (https://www.standardwebhooks.com, version 1.0.0), within a day. `retryAfter`, in
 * ms, is what the receiver asked for.
 */
export function nextTry(
  { attempts, createdAt }: Pick<Delivery, "attempts" | "createdAt">,
  now: number,
  chance: number,
  retryAfter: number,
): number | null {
  const endsAt = createdAt + WEBHOOKS.giveUpMs;
  const planned = WEBHOOKS.tryAgainMs[attempts - 1];
  if (planned === undefined || now >= endsAt) return null;
  const delay = Math.max(planned * (1 + WEBHOOKS.jitter * chance), retryAfter);
  return Math.min(now + Math.round(delay), endsAt);
}

function askedUntil(now: number): number {
  return now + WEBHOOKS.askAgainMs;
}

function over(delivery: Delivery, phase: "delivered" | "failed", now: number): Delivery {
  return { ...delivery, phase, dueAt: null, endedAt: now };
}
