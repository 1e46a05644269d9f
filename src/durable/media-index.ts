import { DurableObject } from "cloudflare:workers";
import { traceOf, type Failure } from "../errors.ts";
import type { Outcome, WebhookMessage } from "../fetching/webhook.ts";
import { type AssetId, eventId, type IndexId, type JobId } from "../ids.ts";
import * as ingest from "../ingest/state.ts";
import type { IngestState, PartRef } from "../ingest/state.ts";
import { log } from "../log.ts";
import type { IngestMessage, WebhookTask } from "../queues/messages.ts";
import { showState } from "../store/assets.ts";
import type { AssetType, Delivery, EventType, Step, WebhookState } from "../types.ts";
import { type AssetNews, changeOf, newsOf } from "./asset-news.ts";
import { type AssetRow, AssetRows } from "./asset-rows.ts";
import { EventStream } from "./event-stream.ts";
import { sendAll } from "./outbox.ts";
import { migrate } from "./schema.ts";
import { Webhook } from "./webhook.ts";

const SWEEP = 100; // assets looked at by one alarm
const SHOW_AGAIN_MS = 5_000;

/** Which index an object is of, as it is told by whoever knows. */
interface IndexPlace {
  indexId: IndexId;
  indexName: string;
}

/**
 * One media index: what happens next to each of its assets, decided by one writer. Intent is stored,
 * and the alarm armed, before a message is sent, so that nothing is lost with the message. Methods
 * return outcomes and don't throw.
 */
export class MediaIndex extends DurableObject<Env> {
  readonly #assets: AssetRows;
  readonly #events: EventStream;
  readonly #webhook: Webhook;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    migrate(ctx.storage);
    this.#assets = new AssetRows(ctx.storage.sql);
    this.#events = new EventStream(ctx.storage);
    this.#webhook = new Webhook(ctx.storage);
  }

  /**
   * Puts an asset at the start of its pipeline, also one that has failed. `jobId` is its ingest job, where
   * that isn't known from an earlier start. `closed`: the index is being deleted.
   */
  async start(
    indexId: IndexId,
    assetId: AssetId,
    assetType: AssetType,
    jobId?: JobId,
  ): Promise<"ok" | "closed"> {
    if (this.#closed()) return "closed";
    this.ctx.storage.kv.put("indexId", indexId);
    const known = this.#assets.get(assetId) ?? { revision: 0, jobId: null };
    const row = { ...known, assetId, assetType, jobId: jobId ?? known.jobId };
    await this.#advance(row, ingest.begin(assetType, Date.now()));
    return "ok";
  }

  /** `no`: the part is done, held by another, or not wanted any more. */
  async claim(assetId: AssetId, part: PartRef): Promise<"yes" | "no"> {
    const row = this.#assets.get(assetId);
    const next = row && ingest.claim(row.state, part, Date.now());
    if (!next) return "no";
    await this.#advance(row, next);
    return "yes";
  }

  async renew(assetId: AssetId, part: PartRef): Promise<void> {
    const row = this.#assets.get(assetId);
    const next = row && ingest.renew(row.state, part, Date.now());
    if (next) await this.#advance(row, next);
  }

  /** `gone`: the asset was deleted meanwhile, and what the step wrote must go too. */
  async complete(assetId: AssetId, part: PartRef, fanOut?: ingest.FanOut): Promise<"ok" | "gone"> {
    const row = this.#assets.get(assetId);
    if (!row) return "gone";
    const next = ingest.complete(row.state, part, fanOut, Date.now());
    if (next) await this.#advance(row, next);
    return "ok";
  }

  /** The holder of a part gives it back; the queue brings it again, and the alarm if that fails. */
  async release(assetId: AssetId, part: PartRef, failure: Failure, dueAt: number): Promise<void> {
    const row = this.#assets.get(assetId);
    const next = row && ingest.release(row.state, part, failure, dueAt);
    if (next) await this.#advance(row, next);
  }

  /** The queue has tried often enough. */
  async giveUp(assetId: AssetId, part: PartRef): Promise<void> {
    const row = this.#assets.get(assetId);
    const next = row && ingest.giveUp(row.state, part);
    if (next) await this.#advance(row, next);
  }

  async fail(assetId: AssetId, step: Step, error: Failure): Promise<"ok" | "gone"> {
    const row = this.#assets.get(assetId);
    if (!row) return "gone";
    const next = ingest.fail(row.state, step, error);
    if (next) await this.#advance(row, next);
    return "ok";
  }

  /** Forgets an asset that is being deleted: steps in flight find it gone. */
  async forget(assetId: AssetId): Promise<void> {
    const row = this.#assets.get(assetId);
    if (!row) return;
    this.#assets.delete(assetId);
    await this.#publish("asset.deleted", newsOf(row), Promise.resolve());
  }

  /** Forgets everything, for good: the index is being deleted. */
  async close(): Promise<void> {
    this.#assets.clear();
    this.#events.close();
    this.#webhook.clear();
    this.ctx.storage.kv.put("closed", true);
    await this.ctx.storage.deleteAlarm();
  }

  /**
   * What happens to the index's assets from now on, or from an event on, as server-sent events. `full`:
   * enough are listening.
   */
  async listen(
    place: IndexPlace,
    lastEventId: string | null,
  ): Promise<ReadableStream<Uint8Array> | "full" | "closed"> {
    if (this.#closed()) return "closed";
    this.#stand(place);
    return this.#events.open(lastEventId, Date.now()) ?? "full";
  }

  /** Sends events to `url` from now on; to nobody where it is null. */
  async setWebhook(place: IndexPlace, url: string | null): Promise<void> {
    if (this.#closed()) return;
    this.#stand(place);
    this.#webhook.set(url, Date.now());
  }

  /** Null where there is none. */
  async getWebhook(): Promise<WebhookState | null> {
    return this.#webhook.state(Date.now());
  }

  async rotateWebhookSecret(): Promise<WebhookState | null> {
    if (this.#webhook.config()) this.#webhook.rotate(Date.now());
    return this.getWebhook();
  }

  /** Null where there is no webhook, or one that was disabled. */
  async testWebhook(): Promise<Delivery | null> {
    if (!this.#webhook.isWanted()) return null;
    const seq = await this.#publish("webhook.test", null, Promise.resolve());
    return this.#webhook.get(seq) ?? null;
  }

  /** The newest first, from before the event of number `before`; with how many there are. */
  async listDeliveries(before: number, limit: number) {
    return { deliveries: this.#webhook.list(before, limit), counts: this.#webhook.counts() };
  }

  /** What a queue's message asks to send; null where that is done, or another is at it. */
  async claimDelivery(seq: number): Promise<WebhookMessage | null> {
    const now = Date.now();
    const config = this.#webhook.config();
    const claimed = this.#webhook.claim(seq, now);
    if (!config || !claimed) return null;
    await this.#armAlarm();
    const secrets = this.#webhook.secrets(now).map(({ secret }) => secret);
    const id = eventId(this.#indexId(), seq);
    return { url: config.url, id, payload: claimed.payload, secrets };
  }

  async settleDelivery(seq: number, outcome: Outcome): Promise<void> {
    this.#webhook.settle(seq, outcome, Date.now());
    await this.#armAlarm();
  }

  /** Asks again for what is overdue, and shows what D1 has missed. */
  override async alarm(): Promise<void> {
    const now = Date.now();
    for (const row of this.#assets.due(now, SWEEP)) {
      const late = ingest.overdue(row.state, now);
      if (late) {
        log("warn", "ingest.overdue", { asset: row.assetId, parts: late.ask.length });
        await this.#advance(row, late.state, late.ask);
      } else await this.#show(row);
    }
    await this.#deliver(this.#webhook.overdue(now, SWEEP));
  }

  /**
   * Stores the next state with the event that tells of it, asks for the parts that it begins, and shows it
   * in D1.
   */
  async #advance(
    before: Omit<AssetRow, "state"> & Partial<AssetRow>,
    state: IngestState,
    ask?: PartRef[],
  ): Promise<void> {
    const next: AssetRow = { ...before, state, revision: before.revision + 1 };
    const change = changeOf(before.state, state);
    const dueAt = ingest.nextDue(state);
    this.#assets.put(next, change ? Math.min(dueAt, Date.now() + SHOW_AGAIN_MS) : dueAt);
    const published = change && this.#publish(change, newsOf(next, before.state), this.#show(next));
    await this.#armAlarm();
    await Promise.all([
      this.#ask(next.assetId, ask ?? ingest.newlyAsked(before.state, state)),
      published,
    ]);
  }

  /**
   * Notes an event, in the turn of what it tells of; those who listen are told once it is `shown`. Returns its
   * number.
   */
  async #publish(type: EventType, news: AssetNews | null, shown: Promise<void>): Promise<number> {
    const now = Date.now();
    const event = this.#events.append(type, news, now);
    const isWanted = this.#webhook.add(event, now);
    await this.#events.tell(event, shown);
    if (isWanted) await this.#deliver([event.seq]);
    return event.seq;
  }

  async #deliver(seqs: number[]): Promise<void> {
    await this.#armAlarm();
    const indexId = this.#indexId();
    const tasks = seqs.map((seq): WebhookTask => ({ indexId, seq }));
    await sendAll(this.env.WEBHOOKS, tasks, "webhook.not_sent", { index: indexId });
  }

  async #ask(assetId: AssetId, parts: PartRef[]): Promise<void> {
    const indexId = this.#indexId();
    const messages = parts.map((part): IngestMessage => ({ indexId, assetId, ...part }));
    await sendAll(this.env.INGEST, messages, "ingest.not_sent", { asset: assetId });
  }

  /** Brings the record that people read up to date; what fails is done again by the alarm. */
  async #show(row: AssetRow): Promise<void> {
    const error = row.state.phase === "failed" ? row.state.error : null;
    const { state, progress } = ingest.shown(row.state);
    try {
      await showState(this.env.DB, row.assetId, { state, progress, error, revision: row.revision });
    } catch (cause) {
      log("error", "ingest.not_shown", { asset: row.assetId, cause: traceOf(cause) });
      return;
    }
    if (this.#assets.get(row.assetId)?.revision === row.revision) {
      this.#assets.put(row, ingest.nextDue(row.state));
    }
  }

  #stand({ indexId, indexName }: IndexPlace): void {
    this.ctx.storage.kv.put("indexId", indexId);
    this.ctx.storage.kv.put("indexName", indexName);
  }

  #indexId(): IndexId {
    return this.ctx.storage.kv.get<IndexId>("indexId")!;
  }

  #closed(): boolean {
    return this.ctx.storage.kv.get<boolean>("closed") === true;
  }

  async #armAlarm(): Promise<void> {
    const due = this.ctx.storage.sql
      .exec<{ due: number | null }>(
        `SELECT MIN(due) AS due FROM (SELECT MIN(due_at) AS due FROM assets
                                      UNION ALL SELECT MIN(due_at) FROM deliveries)`,
      )
      .one().due;
    if (due === null) return;
    const armed = await this.ctx.storage.getAlarm();
    if (armed === null || armed > due) await this.ctx.storage.setAlarm(due);
  }
}
