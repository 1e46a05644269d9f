import { WEBHOOKS } from "../config.ts";
import type { Outcome } from "../fetching/webhook.ts";
import * as delivery from "./delivery.ts";
import type { Delivery, WebhookSecret, WebhookState } from "../types.ts";
import { signing, withNewSecret } from "./webhook-secrets.ts";

type Config = Pick<WebhookState, "url" | "disabledAt">;

const COLUMNS = `seq, type, payload, phase, attempts, created_at AS createdAt, due_at AS dueAt,
  ended_at AS endedAt, status, problem`;

const GONE = 410;

/** The webhook of one index: where to, signed by what, and a bounded log of what was sent and has to be. */
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

  isWanted(): boolean {
    return this.config()?.disabledAt === null;
  }

  /** What was waiting goes to the new URL, and fails where there is none any more. */
  set(url: string | null, now: number): void {
    if (url === null) {
      this.#storage.kv.delete("webhook");
      this.#failWaiting("The webhook was removed.", now);
      return;
    }
    this.#storage.kv.put<Config>("webhook", { url, disabledAt: null });
    if (this.secrets(now).length === 0) this.rotate(now);
  }

  /** The newest first. */
  secrets(now: number): WebhookSecret[] {
    return signing(this.#storage.kv.get<WebhookSecret[]>("webhookSecrets") ?? [], now);
  }

  rotate(now: number): void {
    this.#storage.kv.put("webhookSecrets", withNewSecret(this.secrets(now), now));
  }

  /** Notes that an event is to be sent; false where nobody wants it. */
  add(event: Pick<Delivery, "seq" | "type" | "payload">, now: number): boolean {
    if (event.seq % WEBHOOKS.pruneEvery === 0) this.#prune(now);
    if (!this.isWanted() || event.type === "asset.progress") return false;
    this.#put(delivery.begin(event, now));
    return true;
  }

  claim(seq: number, now: number): Delivery | undefined {
    return this.#change(seq, (one) => delivery.claim(one, now));
  }

  settle(seq: number, outcome: Outcome, now: number): void {
    const next = this.#change(seq, (one) => delivery.settle(one, outcome, now, Math.random()));
    const config = this.config();
    if (next && config && outcome.status === GONE) {
      this.#storage.kv.put<Config>("webhook", { ...config, disabledAt: now });
      this.#failWaiting("The receiver answered 410: it is gone.", now);
    }
  }

  /** The messages to send, of at most `limit` deliveries whose time has come. */
  overdue(now: number, limit: number): number[] {
    const due = this.#read("WHERE due_at <= ? ORDER BY due_at LIMIT ?", now, limit);
    return due.flatMap((one) => {
      const next = delivery.overdue(one, now, Math.random());
      this.#put(next);
      return next.phase === "asked" ? [next.seq] : [];
    });
  }

  get(seq: number): Delivery | undefined {
    return this.#read("WHERE seq = ?", seq)[0];
  }

  /** The newest first, from before `seq`. */
  list(before: number, limit: number): Delivery[] {
    return this.#read("WHERE seq < ? ORDER BY seq DESC LIMIT ?", before, limit);
  }

  counts(): WebhookState["counts"] {
    const counts: WebhookState["counts"] = { waiting: 0, delivered: 0, failed: 0 };
    const rows = this.#storage.sql.exec<{ phase: Delivery["phase"]; n: number }>(
      "SELECT phase, COUNT(*) AS n FROM deliveries GROUP BY phase",
    );
    for (const { phase, n } of rows) {
      counts[phase === "delivered" || phase === "failed" ? phase : "waiting"] += n;
    }
    return counts;
  }

  clear(): void {
    this.#storage.kv.delete("webhook");
    this.#storage.kv.delete("webhookSecrets");
    this.#storage.sql.exec("DELETE FROM deliveries");
  }

  /** Fails the oldest of too many that wait, and forgets the oldest of too many that are over. */
  #prune(now: number): void {
    this.#failWaiting("Too many were waiting.", now, WEBHOOKS.waiting);
    this.#storage.sql.exec(
      `DELETE FROM deliveries WHERE due_at IS NULL AND seq <= (
         SELECT seq FROM deliveries WHERE due_at IS NULL ORDER BY seq DESC LIMIT 1 OFFSET ?)`,
      WEBHOOKS.kept,
    );
  }

  /** All that are not over, but for the newest `spared`. */
  #failWaiting(problem: string, now: number, spared = 0): void {
    this.#storage.sql.exec(
      `UPDATE deliveries SET phase = 'failed', problem = ?, ended_at = ?, due_at = NULL
       WHERE seq IN (SELECT seq FROM deliveries WHERE due_at IS NOT NULL
                     ORDER BY seq DESC LIMIT -1 OFFSET ?)`,
      problem,
      now,
      spared,
    );
  }

  #change(seq: number, by: (one: Delivery) => Delivery | undefined): Delivery | undefined {
    const before = this.get(seq);
    const next = before && by(before);
    if (next) this.#put(next);
    return next;
  }

  #put(one: Delivery): void {
    this.#storage.sql.exec(
      `INSERT OR REPLACE INTO deliveries (seq, type, payload, phase, attempts, created_at, due_at,
         ended_at, status, problem) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      one.seq,
      one.type,
      one.payload,
      one.phase,
      one.attempts,
      one.createdAt,
      one.dueAt,
      one.endedAt,
      one.status,
      one.problem,
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
