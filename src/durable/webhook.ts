import { WEBHOOKS } from "../config.ts";
import type { DeliveryOutcome } from "../fetching/webhook.ts";
import { newRow, raw, sql, type SqlFragment } from "../store/sql.ts";
import {
  type Delivery,
  type EventType,
  WEBHOOK_EVENTS,
  type WebhookSecret,
  type WebhookState,
} from "../types.ts";
import { exec, readObjects } from "./counted-storage.ts";

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
  const unsent = { attempts: 0, consumer: null, endedAt: null, statusCode: null, error: null };
  return {
    ...event,
    ...unsent,
    phase: "queued",
    createdAt: now,
    dueAt: now + WEBHOOKS.redispatchMs,
  };
}

/** Leases a delivery to a consumer, which may ask again. Allowed once per queue message. */
export function claimDelivery(
  delivery: Delivery,
  consumer: string,
  now: number,
): Delivery | undefined {
  if (delivery.phase === "sending" && delivery.consumer === consumer) return delivery;
  if (delivery.phase !== "queued") return undefined;
  const attempts = delivery.attempts + 1;
  return { ...delivery, phase: "sending", attempts, consumer, dueAt: now + WEBHOOKS.leaseMs };
}

/**
 * Records the outcome of an attempt, and schedules the next one after a failure. `chance`, from 0
 * to 1, spreads the retries of deliveries that failed together.
 */
export function settleDelivery(
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
    return settleDelivery(
      delivery,
      { statusCode: null, error: "The attempt was cut off." },
      now,
      chance,
    )!;
  }
  const isTooOld = delivery.phase === "queued" && now >= delivery.createdAt + WEBHOOKS.maxAgeMs;
  const error = "It could not be sent for a day.";
  if (isTooOld) return end({ ...delivery, error }, "failed", now);
  return { ...delivery, phase: "queued", dueAt: now + WEBHOOKS.redispatchMs };
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

function end(delivery: Delivery, phase: "delivered" | "failed", now: number): Delivery {
  return { ...delivery, phase, dueAt: null, endedAt: now };
}

type Config = Pick<WebhookState, "url" | "disabledAt"> & {
  /** Undefined: `WEBHOOK_EVENTS`. */
  events?: readonly EventType[] | undefined;
};

const SELECT_DELIVERIES =
  raw(`SELECT seq, type, payload, url, phase, attempts, consumer, created_at AS createdAt,
  due_at AS dueAt, ended_at AS endedAt, status_code AS statusCode, error
  FROM deliveries`);

const HTTP_GONE = 410;
const RECEIVER_GONE = "The receiver answered 410: it is gone.";
const SECRET_BYTES = 32;

export class Webhook {
  readonly #storage: DurableObjectStorage;
  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  config(): Config | undefined {
    return this.#storage.kv.get<Config>("webhook");
  }

  state(now: number): WebhookState | null {
    const config = this.config();
    return config ? { ...config, secrets: this.secrets(now), counts: this.counts() } : null;
  }

  isEnabled(): boolean {
    return this.config()?.disabledAt === null;
  }

  /** Sends events of some types to a URL from now on. Null removes the webhook. */
  set(url: string | null, events: readonly EventType[] | undefined, now: number): void {
    if (url === null) {
      this.#storage.kv.delete("webhook");
      this.#failPending("The webhook was removed.", now, { url: null });
      return;
    }
    this.#storage.kv.put<Config>("webhook", { url, disabledAt: null, events });
    this.requireSecrets(now);
  }

  /** Lists the secrets that sign at `now`, newest first. */
  secrets(now: number): WebhookSecret[] {
    return activeSecrets(this.#storage.kv.get<WebhookSecret[]>("webhookSecrets") ?? [], now);
  }

  /** Lists the secrets that sign at `now`, and makes one if there is none. */
  requireSecrets(now: number): WebhookSecret[] {
    if (this.secrets(now).length === 0) this.rotate(now);
    return this.secrets(now);
  }

  rotate(now: number): void {
    this.#storage.kv.put("webhookSecrets", withNewSecret(this.secrets(now), now));
  }

  /**
   * Stores a delivery of an event to `url`, or without one to the webhook. False if that is off or
   * doesn't get events of its type.
   */
  add(
    { seq, type, payload }: Pick<Delivery, "seq" | "type" | "payload">,
    now: number,
    url: string | null = null,
  ): boolean {
    if (seq % WEBHOOKS.pruneEveryEvents === 0) this.#prune(now);
    const wanted = this.config()?.events ?? WEBHOOK_EVENTS;
    const isWanted = type === "webhook.test" || wanted.includes(type);
    if (url === null && (!this.isEnabled() || !isWanted)) return false;
    this.requireSecrets(now);
    this.#put(createDelivery({ seq, type, payload, url }, now));
    return true;
  }

  claim(seq: number, consumer: string, now: number): Delivery | undefined {
    return this.#transition(seq, (current) => claimDelivery(current, consumer, now));
  }

  settle(seq: number, outcome: DeliveryOutcome, now: number): void {
    const next = this.#transition(seq, (current) =>
      settleDelivery(current, outcome, now, Math.random()),
    );
    const config = this.config();
    if (!next || outcome.statusCode !== HTTP_GONE) return;
    if (next.url !== null) this.#failPending(RECEIVER_GONE, now, { url: next.url });
    else if (config) {
      this.#storage.kv.put<Config>("webhook", { ...config, disabledAt: now });
      this.#failPending(RECEIVER_GONE, now, { url: null });
    }
  }

  /** Handles up to `limit` due deliveries. Returns the numbers of those to send to the queue. */
  takeOverdue(now: number, limit: number): number[] {
    const due = this.#read(sql`WHERE due_at <= ${now} ORDER BY due_at LIMIT ${limit}`);
    return due.flatMap((current) => {
      const next = redispatchOverdue(current, now, Math.random());
      this.#put(next);
      return next.phase === "queued" ? [next.seq] : [];
    });
  }

  get(seq: number): Delivery | undefined {
    return this.#read(sql`WHERE seq = ${seq}`)[0];
  }

  list(before: number, limit: number): Delivery[] {
    return this.#read(sql`WHERE seq < ${before} ORDER BY seq DESC LIMIT ${limit}`);
  }

  counts(): WebhookState["counts"] {
    const counts: WebhookState["counts"] = { pending: 0, delivered: 0, failed: 0 };
    const rows = exec<{ phase: Delivery["phase"]; n: number }>(
      this.#storage.sql,
      sql`SELECT phase, COUNT(*) AS n FROM deliveries GROUP BY phase`,
    );
    for (const { phase, n } of rows) {
      counts[phase === "delivered" || phase === "failed" ? phase : "pending"] += n;
    }
    return counts;
  }

  clear(): void {
    this.#storage.kv.delete("webhook");
    this.#storage.kv.delete("webhookSecrets");
    exec(this.#storage.sql, sql`DELETE FROM deliveries`);
  }

  /**
   * Fails the oldest pending deliveries beyond `WEBHOOKS.maxPending`, and deletes the oldest ended
   * ones beyond `WEBHOOKS.retainedCount`.
   */
  #prune(now: number): void {
    this.#failPending("Too many were waiting.", now, { exemptCount: WEBHOOKS.maxPending });
    exec(
      this.#storage.sql,
      sql`DELETE FROM deliveries WHERE due_at IS NULL AND seq <= (
        SELECT seq FROM deliveries WHERE due_at IS NULL
        ORDER BY seq DESC LIMIT 1 OFFSET ${WEBHOOKS.retainedCount})`,
    );
  }

  /**
   * Fails pending deliveries except the newest `exemptCount`: those to a URL, to the webhook of the
   * index (null), or all.
   */
  #failPending(
    error: string,
    now: number,
    { url, exemptCount = 0 }: { url?: string | null; exemptCount?: number },
  ): void {
    const condition = url === undefined ? raw("TRUE") : sql`url IS ${url}`;
    exec(
      this.#storage.sql,
      sql`UPDATE deliveries SET phase = 'failed', error = ${error}, ended_at = ${now}, due_at = NULL
        WHERE seq IN (
          SELECT seq FROM deliveries
          WHERE due_at IS NOT NULL AND ${condition}
          ORDER BY seq DESC LIMIT -1 OFFSET ${exemptCount})`,
    );
  }

  #transition(seq: number, toNext: (current: Delivery) => Delivery | undefined) {
    const before = this.get(seq);
    const next = before && toNext(before);
    if (next) this.#put(next);
    return next;
  }

  #put(row: Delivery): void {
    exec(this.#storage.sql, sql`INSERT OR REPLACE INTO ${newRow("deliveries", row)}`);
  }

  #read(where: SqlFragment): Delivery[] {
    return readObjects(this.#storage.sql, sql`${SELECT_DELIVERIES} ${where}`);
  }
}

/**
 * Puts a new secret in front of the active ones. The previous secret stays active for another
 * `WEBHOOKS.rotatedSecretMs`, so that receivers can change over.
 */
export function withNewSecret(secrets: readonly WebhookSecret[], now: number): WebhookSecret[] {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  const secret = `whsec_${Buffer.from(bytes).toString("base64")}`;
  const endsAt = now + WEBHOOKS.rotatedSecretMs;
  const rotated = activeSecrets(secrets, now).map((active): WebhookSecret => {
    const { secret: value, createdAt, expiresAt } = active;
    return { secret: value, createdAt, expiresAt: expiresAt ?? endsAt };
  });
  return [{ secret, createdAt: now, expiresAt: null }, ...rotated].slice(0, WEBHOOKS.maxSecrets);
}

/** Lists the secrets that sign at `now`, newest first. */
export function activeSecrets(secrets: readonly WebhookSecret[], now: number): WebhookSecret[] {
  return secrets.filter(({ expiresAt }) => expiresAt === null || expiresAt > now);
}
