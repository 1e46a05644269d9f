import { WEBHOOKS } from "../config.ts";
import type { DeliveryOutcome } from "../fetching/webhook.ts";
import * as delivery from "./delivery.ts";
import type { Delivery, WebhookSecret, WebhookState } from "../types.ts";
import { activeSecrets, withNewSecret } from "./webhook-secrets.ts";

type Config = Pick<WebhookState, "url" | "disabledAt">;

const COLUMNS = `seq, type, payload, phase, attempts, created_at AS createdAt, due_at AS dueAt,
  ended_at AS endedAt, status_code AS statusCode, error`;

const HTTP_GONE = 410;

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
      this.#failPending("The webhook was removed.", now);
      return;
    }
    this.#storage.kv.put<Config>("webhook", { url, disabledAt: null });
    if (this.secrets(now).length === 0) this.rotate(now);
  }

  /** Lists the secrets that sign at `now`, newest first. */
  secrets(now: number): WebhookSecret[] {
    return activeSecrets(this.#storage.kv.get<WebhookSecret[]>("webhookSecrets") ?? [], now);
  }

  rotate(now: number): void {
    this.#storage.kv.put("webhookSecrets", withNewSecret(this.secrets(now), now));
  }

  /** Stores a delivery of an event. False if the webhook is off or the event is progress. */
  add(event: Pick<Delivery, "seq" | "type" | "payload">, now: number): boolean {
    if (event.seq % WEBHOOKS.pruneEveryEvents === 0) this.#prune(now);
    if (!this.isEnabled() || event.type === "asset.progress") return false;
    this.#put(delivery.createDelivery(event, now));
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
    if (next && config && outcome.statusCode === HTTP_GONE) {
      this.#storage.kv.put<Config>("webhook", { ...config, disabledAt: now });
      this.#failPending("The receiver answered 410: it is gone.", now);
    }
  }

  /** Handles up to `limit` due deliveries. Returns the numbers of those to send to the queue. */
  takeOverdue(now: number, limit: number): number[] {
    const due = this.#read("WHERE due_at <= ? ORDER BY due_at LIMIT ?", now, limit);
    return due.flatMap((current) => {
      const next = delivery.redispatchOverdue(current, now, Math.random());
      this.#put(next);
      return next.phase === "queued" ? [next.seq] : [];
    });
  }

  get(seq: number): Delivery | undefined {
    return this.#read("WHERE seq = ?", seq)[0];
  }

  /** Lists deliveries with numbers below `before`, newest first. */
  list(before: number, limit: number): Delivery[] {
    return this.#read("WHERE seq < ? ORDER BY seq DESC LIMIT ?", before, limit);
  }

  counts(): WebhookState["counts"] {
    const counts: WebhookState["counts"] = { pending: 0, delivered: 0, failed: 0 };
    const rows = this.#storage.sql.exec<{ phase: Delivery["phase"]; n: number }>(
      "SELECT phase, COUNT(*) AS n FROM deliveries GROUP BY phase",
    );
    for (const { phase, n } of rows) {
      counts[phase === "delivered" || phase === "failed" ? phase : "pending"] += n;
    }
    return counts;
  }

  clear(): void {
    this.#storage.kv.delete("webhook");
    this.#storage.kv.delete("webhookSecrets");
    this.#storage.sql.exec("DELETE FROM deliveries");
  }

  /**
   * Fails the oldest pending deliveries beyond `WEBHOOKS.maxPending`, and deletes the oldest ended
   * ones beyond `WEBHOOKS.retainedCount`.
   */
  #prune(now: number): void {
    this.#failPending("Too many were waiting.", now, WEBHOOKS.maxPending);
    this.#storage.sql.exec(
      `DELETE FROM deliveries WHERE due_at IS NULL AND seq <= (
         SELECT seq FROM deliveries WHERE due_at IS NULL ORDER BY seq DESC LIMIT 1 OFFSET ?)`,
      WEBHOOKS.retainedCount,
    );
  }

  /** Fails all pending deliveries except the newest `exemptCount`. */
  #failPending(error: string, now: number, exemptCount = 0): void {
    this.#storage.sql.exec(
      `UPDATE deliveries SET phase = 'failed', error = ?, ended_at = ?, due_at = NULL
       WHERE seq IN (SELECT seq FROM deliveries WHERE due_at IS NOT NULL
                     ORDER BY seq DESC LIMIT -1 OFFSET ?)`,
      error,
      now,
      exemptCount,
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
    this.#storage.sql.exec(
      `INSERT OR REPLACE INTO deliveries (seq, type, payload, phase, attempts, created_at, due_at,
         ended_at, status_code, error) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      row.seq,
      row.type,
      row.payload,
      row.phase,
      row.attempts,
      row.createdAt,
      row.dueAt,
      row.endedAt,
      row.statusCode,
      row.error,
    );
  }

  #read(where: string, ...bindings: number[]): Delivery[] {
    return this.#storage.sql
      .exec<Record<string, SqlStorageValue> & Delivery>(
        `SELECT ${COLUMNS} FROM deliveries ${where}`,
        ...bindings,
      )
      .toArray();
  }
}
