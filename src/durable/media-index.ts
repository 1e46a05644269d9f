import { DurableObject } from "cloudflare:workers";
import { type Failure, traceOf } from "../errors.ts";
import type { DeliveryOutcome, SignedWebhook } from "../fetching/webhook.ts";
import { type AssetId, type IndexId, type JobId, eventId } from "../ids.ts";
import * as ingest from "../ingest/state.ts";
import type { IngestState, PartRef, TransitionOutcome } from "../ingest/state.ts";
import { log } from "../log.ts";
import type { IngestMessage } from "../messages.ts";
import { writeAssetState } from "../store/asset-changes.ts";
import { sql, newRow, parseColumns, raw, type SqlFragment } from "../store/sql.ts";
import type {
  Asset,
  AssetType,
  Delivery,
  EventType,
  Step,
  WebhookSecret,
  WebhookState,
} from "../types.ts";
import { readNumber, exec, readObjects, type Sql } from "./counted-storage.ts";
import {
  type AssetStateRow,
  changeEventType,
  Events,
  toAssetEventData,
  enqueueAll,
  announceMatches,
} from "./events.ts";
import { MEDIA_INDEX_MIGRATIONS } from "./media-index-schema.ts";
import { migrate, refuseLaterCallers } from "./migrate.ts";
import { Webhook } from "./webhook.ts";

const ALARM_BATCH_SIZE = 100; // assets and deliveries that one alarm handles
const STATE_WRITE_RETRY_MS = 5_000;

/** An index, whose name the object learns from its callers. */
type NamedIndex = Pick<Asset, "indexId" | "indexName">;

/**
 * State of one media index with a single writer: the ingest of its assets, its events and its
 * webhook. Intent is stored and the alarm armed before a message is sent, so that a lost message is
 * sent again. Methods return outcomes and don't throw. Callers use `indexObject`, which repeats a
 * call that was cut off: a method may run twice.
 */
export class MediaIndex extends DurableObject<Env> {
  static {
    refuseLaterCallers(this, "MEDIA_INDEX", MEDIA_INDEX_MIGRATIONS);
  }

  readonly #assets: AssetRows;
  readonly #webhook: Webhook;
  readonly #events: Events;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    migrate(ctx.storage, MEDIA_INDEX_MIGRATIONS);
    this.#assets = new AssetRows(ctx.storage.sql);
    this.#webhook = new Webhook(ctx.storage);
    const armAlarm = () => this.#armAlarm();
    this.#events = new Events(ctx.storage, env.WEBHOOKS, this.#webhook, armAlarm);
    void this.#armAlarm(); // a reset may have come between a state and its alarm
  }

  /**
   * Starts the ingest of an asset from its first step, also after it has failed. Without `jobId`
   * the ingest job of an earlier start stays. `closed`: the index is being deleted.
   */
  async start(indexId: IndexId, assetId: AssetId, assetType: AssetType, jobId?: JobId) {
    if (this.#closed()) return "closed";
    this.ctx.storage.kv.put("indexId", indexId);
    const stored = this.#assets.get(assetId) ?? { revision: 0, jobId: null };
    const row = { ...stored, assetId, assetType, jobId: jobId ?? stored.jobId };
    await this.#advance(row, ingest.begin(assetType, Date.now()));
    return "ok";
  }

  /** Leases a part to a worker, who gets it again with the same name. */
  async claim(assetId: AssetId, part: PartRef, worker?: string): Promise<TransitionOutcome> {
    return this.#transition(assetId, (state) => ingest.claim(state, part, Date.now(), worker));
  }

  async renew(assetId: AssetId, part: PartRef): Promise<void> {
    await this.#transition(assetId, (state) => ingest.renew(state, part, Date.now()));
  }

  async complete(assetId: AssetId, part: PartRef, fanOut?: ingest.FanOut) {
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
    await this.#events.send([this.#events.append("asset.deleted", toAssetEventData(row))]);
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
  async subscribe(index: NamedIndex, lastEventId: string | null) {
    if (this.#closed()) return "closed";
    this.#storeIdentity(index);
    return this.#events.open(lastEventId, Date.now()) ?? "full";
  }

  /** Sends events of some types to `url` from now on. Null removes the webhook. */
  async setWebhook(index: NamedIndex, url: string | null, events?: EventType[]): Promise<void> {
    if (this.#closed()) return;
    this.#storeIdentity(index);
    this.#webhook.set(url, events, Date.now());
  }

  async getWebhook(): Promise<WebhookState | null> {
    return this.#webhook.state(Date.now());
  }

  /** Makes a new secret, one for each `requestId`. */
  async rotateWebhookSecret(requestId: string): Promise<WebhookState | null> {
    if (this.#webhook.config()) {
      this.#once("rotation", requestId, () => this.#webhook.rotate(Date.now()));
    }
    return this.getWebhook();
  }

  /**
   * Sends a test event, one for each `requestId`. Null if the index has no webhook or its webhook
   * is disabled.
   */
  async testWebhook(requestId: string): Promise<Delivery | null> {
    if (!this.#webhook.isEnabled()) return null;
    const appended = this.#once("test", requestId, () => this.#events.append("webhook.test", null));
    await this.#events.send([appended]);
    return this.#webhook.get(appended.event.seq) ?? null;
  }

  async announceMatches(): Promise<void> {
    if (this.#closed()) return;
    await announceMatches(this.env, this.ctx.storage, this.#events, this.#indexId());
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
  async claimDelivery(seq: number, consumer: string): Promise<SignedWebhook | null> {
    const now = Date.now();
    const claimed = this.#webhook.claim(seq, consumer, now);
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
    await this.#events.dispatch(this.#webhook.takeOverdue(now, ALARM_BATCH_SIZE));
    await this.#armAlarm();
  }

  /** Does what an alarm that was lost would have done: the platform gives up after six failures. */
  async resume(): Promise<void> {
    await this.alarm();
  }

  async #transition(assetId: AssetId, toNext: (state: IngestState) => IngestState | undefined) {
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
    const appended = eventType && this.#events.append(eventType, data);
    const written = appended && this.#writeState(next);
    await this.#armAlarm();
    await Promise.all([
      this.#dispatchParts(next.assetId, dispatch ?? ingest.newlyDispatched(before.state, state)),
      appended && this.#events.send([appended], written),
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
    } catch (cause) {
      log("error", "ingest.state_write_failed", { asset: assetId, cause: traceOf(cause) });
      return;
    }
    if (this.#assets.get(assetId)?.revision === revision) {
      this.#assets.put(row, ingest.nextDue(row.state));
    }
  }

  /** Does `work` in one turn, unless the last request of its kind was the same. */
  #once<Result>(kind: string, requestId: string, work: () => Result): Result {
    const { kv } = this.ctx.storage;
    const last = kv.get<{ requestId: string; result: Result }>(kind);
    if (last?.requestId === requestId) return last.result;
    const result = work();
    kv.put(kind, { requestId, result });
    return result;
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

const SELECT_ASSETS = raw(`SELECT asset_id AS assetId, asset_type AS assetType, job_id AS jobId,
  state, revision FROM assets`);

export class AssetRows {
  readonly #storage: Sql;
  constructor(storage: Sql) {
    this.#storage = storage;
  }

  get(assetId: AssetId): AssetStateRow | undefined {
    return this.#read(sql`WHERE asset_id = ${assetId}`)[0];
  }

  /** Lists assets that are due for the alarm, longest overdue first. */
  due(now: number, limit: number): AssetStateRow[] {
    return this.#read(sql`WHERE due_at <= ${now} ORDER BY due_at LIMIT ${limit}`);
  }

  /** Stores a row. `dueAt` is when the alarm must handle it, in epoch ms. Infinity means never. */
  put(row: AssetStateRow, dueAt: number): void {
    const values = newRow("assets", { ...row, dueAt: dueAt === Infinity ? null : dueAt });
    exec(this.#storage, sql`INSERT OR REPLACE INTO ${values}`);
  }

  delete(assetId: AssetId): void {
    exec(this.#storage, sql`DELETE FROM assets WHERE asset_id = ${assetId}`);
  }

  clear(): void {
    exec(this.#storage, sql`DELETE FROM assets`);
  }

  #read(where: SqlFragment): AssetStateRow[] {
    const rows = readObjects<AssetStateRow>(this.#storage, sql`${SELECT_ASSETS} ${where}`);
    return rows.map((row) => parseColumns(row, ["state"]));
  }
}
