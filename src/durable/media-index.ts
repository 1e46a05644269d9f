import { DurableObject } from "cloudflare:workers";
import { traceOf, type Failure } from "../errors.ts";
import type { DeliveryOutcome, SignedWebhook } from "../fetching/webhook.ts";
import { type AssetId, eventId, type IndexId, type JobId } from "../ids.ts";
import * as ingest from "../ingest/state.ts";
import type { IngestState, PartRef, TransitionOutcome } from "../ingest/state.ts";
import { log } from "../log.ts";
import type { IngestMessage } from "../messages.ts";
import { writeAssetState } from "../store/asset-changes.ts";
import { sql } from "../store/sql.ts";
import type { Asset, AssetType, Delivery, Step, WebhookSecret, WebhookState } from "../types.ts";
import { changeEventType, toAssetEventData } from "./asset-events.ts";
import { type AssetStateRow, AssetRows } from "./asset-rows.ts";
import { readNumber } from "./counted-storage.ts";
import { EventPublisher } from "./event-publisher.ts";
import { EventStream } from "./event-stream.ts";
import { MatchAnnouncer } from "./match-announcer.ts";
import { MEDIA_INDEX_MIGRATIONS } from "./media-index-schema.ts";
import { migrate } from "./migrate.ts";
import { enqueueAll } from "./outbox.ts";
import { Webhook } from "./webhook.ts";

const ALARM_BATCH_SIZE = 100; // assets and deliveries that one alarm handles
const STATE_WRITE_RETRY_MS = 5_000;

/** An index, whose name the object learns from its callers. */
type NamedIndex = Pick<Asset, "indexId" | "indexName">;

/**
 * State of one media index with a single writer: the ingest of its assets, its events and its
 * webhook. Intent is stored and the alarm armed before a message is sent, so that a lost message is
 * sent again. Methods return outcomes and don't throw.
 */
export class MediaIndex extends DurableObject<Env> {
  readonly #assets: AssetRows;
  readonly #events: EventStream;
  readonly #webhook: Webhook;
  readonly #publisher: EventPublisher;
  readonly #announcer: MatchAnnouncer;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    migrate(ctx.storage, MEDIA_INDEX_MIGRATIONS);
    this.#assets = new AssetRows(ctx.storage.sql);
    this.#events = new EventStream(ctx.storage);
    this.#webhook = new Webhook(ctx.storage);
    const { storage } = ctx;
    const armAlarm = () => this.#armAlarm();
    const [events, webhook] = [this.#events, this.#webhook];
    this.#publisher = new EventPublisher(env.WEBHOOKS, storage, events, webhook, armAlarm);
    this.#announcer = new MatchAnnouncer(env, storage, this.#publisher);
  }

  /**
   * Starts the ingest of an asset from its first step, also after it has failed. Without `jobId`
   * the ingest job of an earlier start stays. `closed`: the index is being deleted.
   */
  async start(
    indexId: IndexId,
    assetId: AssetId,
    assetType: AssetType,
    jobId?: JobId,
  ): Promise<"ok" | "closed"> {
    if (this.#closed()) return "closed";
    this.ctx.storage.kv.put("indexId", indexId);
    const stored = this.#assets.get(assetId) ?? { revision: 0, jobId: null };
    const row = { ...stored, assetId, assetType, jobId: jobId ?? stored.jobId };
    await this.#advance(row, ingest.begin(assetType, Date.now()));
    return "ok";
  }

  /** Leases a part to a worker. */
  async claim(assetId: AssetId, part: PartRef): Promise<TransitionOutcome> {
    return this.#transition(assetId, (state) => ingest.claim(state, part, Date.now()));
  }

  async renew(assetId: AssetId, part: PartRef): Promise<void> {
    await this.#transition(assetId, (state) => ingest.renew(state, part, Date.now()));
  }

  async complete(
    assetId: AssetId,
    part: PartRef,
    fanOut?: ingest.FanOut,
  ): Promise<TransitionOutcome> {
    return this.#transition(assetId, (state) => ingest.complete(state, part, fanOut, Date.now()));
  }

  /**
   * Gives back the lease of a part. The alarm dispatches it from `dueAt` on if the queue doesn't
   * deliver its message again. A deferred part (null) is reported, or it would count as stuck.
   */
  async release(assetId: AssetId, part: PartRef, failure: Failure | null, dueAt: number) {
    const outcome = await this.#transition(assetId, (state) =>
      ingest.release(state, part, failure, dueAt),
    );
    const released = this.#assets.get(assetId);
    if (outcome === "ok" && !failure && released) await this.#writeState(released);
  }

  /** Fails the asset of a part whose message has spent its retries. */
  async failExhausted(assetId: AssetId, part: PartRef): Promise<void> {
    await this.#transition(assetId, (state) => ingest.failExhausted(state, part));
  }

  async fail(assetId: AssetId, step: Step, error: Failure): Promise<TransitionOutcome> {
    return this.#transition(assetId, (state) => ingest.fail(state, step, error));
  }

  /** Deletes the state of an asset that is being deleted. Parts in flight then get `gone`. */
  async deleteAsset(assetId: AssetId): Promise<void> {
    const row = this.#assets.get(assetId);
    if (!row) return;
    this.#assets.delete(assetId);
    await this.#publisher.publish("asset.deleted", toAssetEventData(row), Promise.resolve());
  }

  /** Deletes all state for good, because the index is being deleted. */
  async close(): Promise<void> {
    this.#assets.clear();
    this.#events.close();
    this.#webhook.clear();
    this.ctx.storage.kv.put("closed", true);
    await this.ctx.storage.deleteAlarm();
  }

  /**
   * Opens a stream of server-sent events from now on, or from the event after `lastEventId`.
   * `full`: the index has its maximum of subscribers.
   */
  async subscribe(
    index: NamedIndex,
    lastEventId: string | null,
  ): Promise<ReadableStream<Uint8Array> | "full" | "closed"> {
    if (this.#closed()) return "closed";
    this.#storeIdentity(index);
    return this.#events.open(lastEventId, Date.now()) ?? "full";
  }

  /** Sends events to `url` from now on. Null removes the webhook. */
  async setWebhook(index: NamedIndex, url: string | null): Promise<void> {
    if (this.#closed()) return;
    this.#storeIdentity(index);
    this.#webhook.set(url, Date.now());
  }

  /** Null if the index has no webhook. */
  async getWebhook(): Promise<WebhookState | null> {
    return this.#webhook.state(Date.now());
  }

  async rotateWebhookSecret(): Promise<WebhookState | null> {
    if (this.#webhook.config()) this.#webhook.rotate(Date.now());
    return this.getWebhook();
  }

  /** Sends a test event. Null if the index has no webhook or its webhook is disabled. */
  async testWebhook(): Promise<Delivery | null> {
    if (!this.#webhook.isEnabled()) return null;
    const seq = await this.#publisher.publish("webhook.test", null, Promise.resolve());
    return this.#webhook.get(seq) ?? null;
  }

  /** Announces the matches of an asset that was searchable before, each once. */
  async announceMatches(): Promise<void> {
    if (!this.#closed()) await this.#announcer.announce(this.#indexId());
  }

  /** Returns the secrets that sign events, newest first, of which there is one from now on. */
  async webhookSecrets(): Promise<WebhookSecret[]> {
    return this.#webhook.requireSecrets(Date.now());
  }

  /** Lists deliveries of events with numbers below `before`, newest first, and counts all. */
  async listDeliveries(before: number, limit: number) {
    return { deliveries: this.#webhook.list(before, limit), counts: this.#webhook.counts() };
  }

  /** Leases a delivery to a consumer. Null if it has ended or another consumer has the lease. */
  async claimDelivery(seq: number): Promise<SignedWebhook | null> {
    const now = Date.now();
    const claimed = this.#webhook.claim(seq, now);
    const url = claimed?.url ?? this.#webhook.config()?.url;
    if (!claimed || url === undefined) return null;
    await this.#armAlarm();
    const secrets = this.#webhook.secrets(now).map(({ secret }) => secret);
    const id = eventId(this.#indexId(), seq);
    return { url, id, payload: claimed.payload, secrets };
  }

  async settleDelivery(seq: number, outcome: DeliveryOutcome): Promise<void> {
    this.#webhook.settle(seq, outcome, Date.now());
    await this.#armAlarm();
  }

  /** Dispatches overdue parts and deliveries again, and repeats failed writes of public state. */
  override async alarm(): Promise<void> {
    const now = Date.now();
    for (const row of this.#assets.due(now, ALARM_BATCH_SIZE)) {
      const overdue = ingest.redispatchOverdue(row.state, now);
      if (overdue) {
        const { state, dispatch, lostCount: parts } = overdue;
        if (parts > 0) log("warn", "ingest.redispatched", { asset: row.assetId, parts });
        await this.#advance(row, state, dispatch);
      } else await this.#writeState(row);
    }
    await this.#publisher.dispatch(this.#webhook.takeOverdue(now, ALARM_BATCH_SIZE));
  }

  /** Does what an alarm that was lost would have done: the platform gives up after six failures. */
  async resume(): Promise<void> {
    await this.alarm();
  }

  /** Advances an asset to the state that follows, if one does. */
  async #transition(
    assetId: AssetId,
    toNext: (state: IngestState) => IngestState | undefined,
  ): Promise<TransitionOutcome> {
    const row = this.#assets.get(assetId);
    if (!row) return "gone";
    const next = toNext(row.state);
    if (!next) return "refused";
    await this.#advance(row, next);
    return "ok";
  }

  /**
   * Stores the next state together with its event, sends messages for the parts to `dispatch`, by
   * default the new ones, and writes the public state to D1.
   */
  async #advance(
    before: Omit<AssetStateRow, "state"> & Partial<AssetStateRow>,
    state: IngestState,
    dispatch?: PartRef[],
  ): Promise<void> {
    const next: AssetStateRow = { ...before, state, revision: before.revision + 1 };
    const eventType = changeEventType(before.state, state);
    const dueAt = ingest.nextDue(state);
    this.#assets.put(next, eventType ? Math.min(dueAt, Date.now() + STATE_WRITE_RETRY_MS) : dueAt);
    const data = toAssetEventData(next, before.state);
    const published = eventType && this.#publisher.publish(eventType, data, this.#writeState(next));
    await this.#armAlarm();
    await Promise.all([
      this.#dispatchParts(next.assetId, dispatch ?? ingest.newlyDispatched(before.state, state)),
      published,
    ]);
  }

  async #dispatchParts(assetId: AssetId, parts: PartRef[]): Promise<void> {
    const indexId = this.#indexId();
    const messages = parts.map((part): IngestMessage => ({ indexId, assetId, ...part }));
    await enqueueAll(this.env.INGEST, messages, "ingest.enqueue_failed", { asset: assetId });
  }

  /** Writes the public state to the databases. The alarm repeats a write that failed. */
  async #writeState(row: AssetStateRow): Promise<void> {
    const { assetId, revision } = row;
    const error = row.state.phase === "failed" ? row.state.error : null;
    const update = { ...ingest.publicState(row.state), error, revision };
    try {
      await writeAssetState(this.env, { indexId: this.#indexId(), assetId }, update);
      if (update.state === "ready") await this.#announcer.announce(this.#indexId());
    } catch (cause) {
      log("error", "ingest.state_write_failed", { asset: assetId, cause: traceOf(cause) });
      return;
    }
    if (this.#assets.get(assetId)?.revision === revision) {
      this.#assets.put(row, ingest.nextDue(row.state));
    }
  }

  #storeIdentity({ indexId, indexName }: NamedIndex): void {
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
    const due = readNumber(
      this.ctx.storage.sql,
      sql`SELECT MIN(due) FROM (
        SELECT MIN(due_at) AS due FROM assets UNION ALL SELECT MIN(due_at) FROM deliveries)`,
    );
    if (due === 0) return;
    const armed = await this.ctx.storage.getAlarm();
    if (armed === null || armed > due || armed < Date.now()) await this.ctx.storage.setAlarm(due);
  }
}
