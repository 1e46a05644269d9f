import { WEBHOOKS } from "../config.ts";
import type { DeliveryOutcome } from "../fetching/webhook.ts";
import { raw, sql, type SqlFragment } from "../store/sql.ts";
import type { Delivery, WebhookSecret, WebhookState } from "../types.ts";
import { exec, readObjects } from "./counted-storage.ts";
import * as delivery from "./delivery.ts";

type Config = Pick<WebhookState, "url" | "disabledAt">;

const SELECT_DELIVERIES =
  raw(`SELECT seq, type, payload, url, phase, attempts, created_at AS createdAt, due_at AS dueAt,
  ended_at AS endedAt, status_code AS statusCode, error
  FROM deliveries`);

const HTTP_GONE = 410;
const RECEIVER_GONE = "The receiver answered 410: it is gone.";
const SECRET_BYTES = 32;

/** Webhook of one index: its URL, its secrets and a bounded log of deliveries. */
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

  /** Sets the URL, to which pending deliveries then go. Null removes the webhook and fails them. */
  set(url: string | null, now: number): void {
    if (url === null) {
      this.#storage.kv.delete("webhook");
      this.#failPending("The webhook was removed.", now, { url: null });
      return;
    }
    this.#storage.kv.put<Config>("webhook", { url, disabledAt: null });
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
   * the event is progress.
   */
  add(
    { seq, type, payload }: Pick<Delivery, "seq" | "type" | "payload">,
    now: number,
    url: string | null = null,
  ): boolean {
    if (seq % WEBHOOKS.pruneEveryEvents === 0) this.#prune(now);
    if (url === null && (!this.isEnabled() || type === "asset.progress")) return false;
    this.requireSecrets(now);
    this.#put(delivery.createDelivery({ seq, type, payload, url }, now));
    return true;
  }

  claim(seq: number, now: number): Delivery | undefined {
    return this.#transition(seq, (current) => delivery.claim(current, now));
  }

  settle(seq: number, outcome: DeliveryOutcome, now: number): void {
    const next = this.#transition(seq, (current) =>
      delivery.settle(current, outcome, now, Math.random()),
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
      const next = delivery.redispatchOverdue(current, now, Math.random());
      this.#put(next);
      return next.phase === "queued" ? [next.seq] : [];
    });
  }

  get(seq: number): Delivery | undefined {
    return this.#read(sql`WHERE seq = ${seq}`)[0];
  }

  /** Lists deliveries with numbers below `before`, newest first. */
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

  #transition(
    seq: number,
    toNext: (current: Delivery) => Delivery | undefined,
  ): Delivery | undefined {
    const before = this.get(seq);
    const next = before && toNext(before);
    if (next) this.#put(next);
    return next;
  }

  #put(row: Delivery): void {
    exec(
      this.#storage.sql,
      sql`INSERT OR REPLACE INTO deliveries (seq, type, payload, url, phase, attempts, created_at,
          due_at, ended_at, status_code, error)
        VALUES (${row.seq}, ${row.type}, ${row.payload}, ${row.url}, ${row.phase}, ${row.attempts},
          ${row.createdAt}, ${row.dueAt}, ${row.endedAt}, ${row.statusCode}, ${row.error})`,
    );
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
