import { toJsonLine } from "../clean-text.ts";
import { EVENTS } from "../config.ts";
import { traceOf } from "../errors.ts";
import { type AssetId, eventId, eventSeq, type IndexId, type JobId } from "../ids.ts";
import { type IngestState, publicState } from "../ingest/state.ts";
import { log } from "../log.ts";
import type { DeliveryMessage } from "../messages.ts";
import { WATCHES } from "../parameters.ts";
import { listShards } from "../store/d1/shards.ts";
import { listWatchesById, type NamedWatch } from "../store/d1/watches.ts";
import { type Databases, indexDatabase } from "../store/index-database/index-database.ts";
import { listMatchesSince, type StoredMatch } from "../store/index-database/matches.ts";
import { sql, type SqlFragment } from "../store/sql.ts";
import type { AssetType, EventType } from "../types.ts";
import { exec, readNumber, readObjects } from "./counted-storage.ts";
import type { Webhook } from "./webhook.ts";

/** Stored state of one asset. `revision` grows by one with each state. */
export interface AssetStateRow {
  assetId: AssetId;
  assetType: AssetType;
  /** The ingest job. Null if no caller of `start` has named one. */
  jobId: JobId | null;
  state: IngestState;
  revision: number;
}

interface IndexEvent {
  /** Unique across indices. Grows from event to event of an index, compared as text too. */
  id: string;
  seq: number;
  type: EventType;
  /** JSON in the shape of Standard Webhooks: `{type, timestamp, data}`. */
  payload: string;
}

/** An event that is stored with its delivery, if it has one, and not sent yet. */
export interface AppendedEvent {
  event: IndexEvent;
  hasDelivery: boolean;
}

/**
 * Events of one index: stores the last `EVENTS.retainedCount`, and up to twice as many, streams
 * them to the clients that follow the index, and sends them to webhooks.
 */
export class Events {
  readonly #storage: DurableObjectStorage;
  readonly #queue: Env["WEBHOOKS"];
  readonly #webhook: Webhook;
  readonly #armAlarm: () => Promise<void>;
  readonly #subscribers = new Subscribers();
  #lastBroadcast: Promise<unknown> = Promise.resolve();

  constructor(
    storage: DurableObjectStorage,
    queue: Env["WEBHOOKS"],
    webhook: Webhook,
    armAlarm: () => Promise<void>,
  ) {
    this.#storage = storage;
    this.#queue = queue;
    this.#webhook = webhook;
    this.#armAlarm = armAlarm;
  }

  /**
   * Stores an event in the same turn as its cause, so that both are stored or neither is. It is
   * sent to `url`, or without one to the webhook of the index.
   */
  append(type: EventType, data: object | null, url: string | null = null) {
    const now = Date.now();
    const [event] = this.#read(
      sql`INSERT INTO events (at, type, data)
        VALUES (${now}, ${type}, ${JSON.stringify(data ?? {})}) RETURNING seq, at, type, data`,
    );
    if (event!.seq % EVENTS.retainedCount === 0) {
      const last = event!.seq - EVENTS.retainedCount;
      exec(this.#storage.sql, sql`DELETE FROM events WHERE seq <= ${last}`);
    }
    return { event: event!, hasDelivery: this.#webhook.add(event!, now, url) };
  }

  /**
   * Sends events to all subscribers in the order of the calls, and not before `stateWritten` has
   * settled: a subscriber that then reads the asset's record finds the new state. Dispatches their
   * deliveries.
   */
  async send(appended: readonly AppendedEvent[], stateWritten?: Promise<void>): Promise<void> {
    const ready = Promise.allSettled([this.#lastBroadcast, stateWritten]);
    const broadcast = ready.then(() =>
      appended.forEach(({ event }) => this.#subscribers.broadcast(event.seq, eventFrame(event))),
    );
    this.#lastBroadcast = broadcast;
    if (stateWritten) await broadcast;
    await this.dispatch(
      appended.flatMap(({ event, hasDelivery }) => (hasDelivery ? event.seq : [])),
    );
  }

  async dispatch(seqs: number[]): Promise<void> {
    if (seqs.length === 0) return;
    await this.#armAlarm();
    const indexId = this.#indexId();
    const messages = seqs.map((seq): DeliveryMessage => ({ indexId, seq }));
    await enqueueAll(this.#queue, messages, "webhook.enqueue_failed", { index: indexId });
  }

  /**
   * Opens a stream of server-sent events from now on, or of all since `lastEventId`. Begins with a
   * `reset` if these are no longer stored. Null if the index has its maximum of subscribers.
   */
  open(lastEventId: string | null, now: number): ReadableStream<Uint8Array> | null {
    const newestSeq = this.#newestSeq();
    const newest = eventId(this.#indexId(), newestSeq);
    const missed = lastEventId === null ? [] : this.#listSince(lastEventId);
    const payload = toPayload("reset", now, { index_name: this.#indexName() });
    const frames = (missed ?? [{ id: newest, type: "reset", payload }]).map(eventFrame);
    const opening = openingFrame(missed && lastEventId !== null ? lastEventId : newest);
    return this.#subscribers.open(opening + frames.join(""), newestSeq, now);
  }

  close(): void {
    this.#subscribers.end();
    exec(this.#storage.sql, sql`DELETE FROM events`);
  }

  /** Lists the events after `id`. Null if these are deleted, or `id` is of another index. */
  #listSince(id: string): IndexEvent[] | null {
    const seq = eventSeq(this.#indexId(), id);
    const oldest = readNumber(this.#storage.sql, sql`SELECT MIN(seq) FROM events`) || 1;
    if (seq === null || seq < oldest - 1 || seq > this.#newestSeq()) return null;
    return this.#read(sql`SELECT seq, at, type, data FROM events WHERE seq > ${seq} ORDER BY seq`);
  }

  #newestSeq(): number {
    return readNumber(this.#storage.sql, sql`SELECT MAX(seq) FROM events`);
  }

  #read(statement: SqlFragment): IndexEvent[] {
    type Row = { seq: number; at: number; type: EventType; data: string };
    return readObjects<Row>(this.#storage.sql, statement).map(({ seq, at, type, data }) => {
      const fields = { index_name: this.#indexName(), ...(JSON.parse(data) as object) };
      return { id: eventId(this.#indexId(), seq), seq, type, payload: toPayload(type, at, fields) };
    });
  }

  /** Undefined until a client subscribes or sets a webhook. */
  #indexName(): string | undefined {
    return this.#storage.kv.get<string>("indexName");
  }

  #indexId(): IndexId {
    return this.#storage.kv.get<IndexId>("indexId")!;
  }
}

function toPayload(type: string, at: number, data: object): string {
  return toJsonLine({ type, timestamp: new Date(at).toISOString(), data });
}

/**
 * Opens a stream of server-sent events (section 9.2.6 of
 * https://html.spec.whatwg.org/multipage/server-sent-events.html): sets the last event id and the
 * delay before a reconnect. Not an event itself.
 */
export function openingFrame(id: string): string {
  return `retry: ${EVENTS.retryMs}\nid: ${id}\n\n`;
}

/** Formats one event. `payload` is JSON without line breaks. */
export function eventFrame({ id, type, payload }: { id: string; type: string; payload: string }) {
  return `id: ${id}\nevent: ${type}\ndata: ${payload}\n\n`;
}

/**
 * Returns the type of the event for a state transition. Undefined if public state and progress stay
 * the same.
 */
export function changeEventType(
  before: IngestState | undefined,
  after: IngestState,
): EventType | undefined {
  const [previous, { state, progress }] = [before && publicState(before), publicState(after)];
  if (previous?.state === state) {
    return previous.progress === progress ? undefined : "asset.progress";
  }
  return state === "ready" || state === "failed" ? `asset.${state}` : "asset.updated";
}

/** Returns an asset's event data. A failed asset keeps the progress of the state `before`. */
export function toAssetEventData(row: AssetStateRow, before?: IngestState) {
  const { state, progress } = publicState(row.state);
  return {
    asset_id: row.assetId,
    asset_type: row.assetType,
    state,
    progress: progress ?? (before && publicState(before).progress) ?? 0,
    error: row.state.phase === "failed" ? row.state.error : null,
    job_id: row.jobId,
  };
}

const MAX_BATCH_SIZE = 100; // limit of `sendBatch`

/**
 * Sends messages whose intent is stored. A batch that the queue refuses is logged as `event`. The
 * alarm sends its messages again when they are overdue.
 */
export async function enqueueAll<Body>(
  queue: Queue<Body>,
  bodies: Body[],
  event: string,
  fields: Record<string, string>,
): Promise<void> {
  for (let from = 0; from < bodies.length; from += MAX_BATCH_SIZE) {
    try {
      await queue.sendBatch(bodies.slice(from, from + MAX_BATCH_SIZE).map((body) => ({ body })));
    } catch (error) {
      log("error", event, { ...fields, cause: traceOf(error) });
    }
  }
}

/**
 * Announces all matches in the databases of an index that aren't announced yet, each once: how far
 * they are announced is stored in the turn that stores the events. Throws what the databases throw.
 */
export async function announceMatches(
  env: Databases,
  storage: DurableObjectStorage,
  events: Events,
  indexId: IndexId,
): Promise<void> {
  for (const { shard } of await listShards(env.DB, indexId)) {
    const position = () => storage.kv.get<number>(positionKey(shard)) ?? 0;
    for (;;) {
      const db = indexDatabase(env, { indexId, shard });
      const matches = await listMatchesSince(db, position(), WATCHES.announcedMatches);
      if (matches.length === 0) break;
      const watchIds = [...new Set(matches.map(({ watchId }) => watchId))];
      const watches = await listWatchesById(env.DB, indexId, watchIds);
      const after = position(); // another call may have gone on meanwhile
      const fresh = matches.filter(({ matchKey }) => matchKey > after);
      const appended = toMatchEvents(fresh, watches).map(({ data, url }) =>
        events.append("watch.matched", data, url),
      );
      storage.kv.put(positionKey(shard), Math.max(after, matches.at(-1)!.matchKey));
      await events.send(appended);
    }
  }
}

function positionKey(shard: number): string {
  return `announced/${shard}`;
}

/** Makes the events of matches, one for each watch and asset, with the best matches. */
function toMatchEvents(matches: readonly StoredMatch[], watches: readonly NamedWatch[]) {
  const byId = new Map(watches.map((watch) => [watch.watchId, watch]));
  const batches = Map.groupBy(matches, ({ watchId, assetId }) => `${watchId} ${assetId}`);
  return [...batches.values()].flatMap((batch) => {
    const [{ watchId, assetId, assetType, title }] = batch as [StoredMatch];
    const watch = byId.get(watchId);
    if (!watch) return [];
    const index = `/index/${watch.indexName}`;
    const best = batch.toSorted((a, b) => b.score - a.score).slice(0, WATCHES.eventMatches);
    const data = {
      watch_id: watchId,
      watch_name: watch.name,
      asset_id: assetId,
      asset_type: assetType,
      title,
      total: batch.length,
      matches: best.map(({ segmentId, startMs, endMs, score, details }) => ({
        segment_id: segmentId,
        start_seconds: startMs === null ? null : startMs / 1000,
        end_seconds: endMs === null ? null : endMs / 1000,
        score,
        evidence: details["evidence"],
      })),
      links: {
        asset: `${index}/${assetType}/${assetId}`,
        matches: `${index}/watches/${watchId}/matches`,
      },
    };
    return [{ data, url: watch.webhookUrl }];
  });
}

/** A comment line, which keeps an idle connection open. */
const HEARTBEAT = ":\n\n";

interface Subscriber {
  controller: ReadableByteStreamController;
  /** Number of the newest event that the opening covers. */
  lastSeq: number;
  endsAt: number;
}

/**
 * Byte streams of the clients that follow one index. A client that doesn't read is cut off when its
 * stream holds `EVENTS.maxUnreadBytes`, and reconnects with its last event id.
 */
export class Subscribers {
  readonly #subscribers = new Set<Subscriber>();
  readonly #encoder = new TextEncoder();
  #heartbeat: ReturnType<typeof setInterval> | undefined;

  /**
   * Opens a stream that begins with `opening`, which covers events up to number `lastSeq`. Null if
   * there are `EVENTS.maxSubscribers` streams. A closed connection is noticed only on a write, so
   * that a full set gets a heartbeat, and a retry soon after may succeed.
   */
  open(opening: string, lastSeq: number, now: number): ReadableStream<Uint8Array> | null {
    if (this.#subscribers.size >= EVENTS.maxSubscribers) {
      this.sendHeartbeat(now);
      return null;
    }
    const bytes = this.#encoder.encode(opening);
    let subscriber: Subscriber;
    const stream = new ReadableStream(
      {
        type: "bytes",
        start: (controller) => {
          subscriber = { controller, lastSeq, endsAt: now + EVENTS.streamMs };
          this.#subscribers.add(subscriber);
          controller.enqueue(bytes);
        },
        cancel: () => this.#remove(subscriber),
      },
      { highWaterMark: bytes.length + EVENTS.maxUnreadBytes },
    );
    this.#heartbeat ??= setInterval(() => this.sendHeartbeat(Date.now()), EVENTS.heartbeatMs);
    return stream;
  }

  /** Sends event number `seq` to all whose opening didn't cover it. */
  broadcast(seq: number, frame: string): void {
    for (const subscriber of this.#subscribers)
      if (seq > subscriber.lastSeq) this.#write(subscriber, frame);
  }

  /** Writes to all streams, and ends those that are older than `EVENTS.streamMs`. */
  sendHeartbeat(now: number): void {
    for (const subscriber of this.#subscribers) {
      if (now >= subscriber.endsAt) this.#end(subscriber);
      else this.#write(subscriber, HEARTBEAT);
    }
  }

  end(): void {
    for (const subscriber of this.#subscribers) this.#end(subscriber);
  }

  #write(subscriber: Subscriber, text: string): void {
    const { controller } = subscriber;
    if ((controller.desiredSize ?? 0) > 0) return controller.enqueue(this.#encoder.encode(text));
    this.#remove(subscriber);
    controller.error(new Error("the subscriber reads too slowly"));
  }

  #end(subscriber: Subscriber): void {
    this.#remove(subscriber);
    subscriber.controller.close();
  }

  #remove(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
    if (this.#subscribers.size > 0) return;
    clearInterval(this.#heartbeat);
    this.#heartbeat = undefined;
  }
}
