import { EVENTS } from "../config.ts";
import { eventId, eventSeq, type IndexId } from "../ids.ts";
import type { EventType } from "../types.ts";
import type { AssetEventData } from "./asset-events.ts";

export interface IndexEvent {
  /** Unique across indices. Grows from event to event of an index, compared as text too. */
  id: string;
  seq: number;
  type: EventType;
  /** JSON in the shape of Standard Webhooks: `{type, timestamp, data}`. */
  payload: string;
}

interface Row extends Record<string, SqlStorageValue> {
  seq: number;
  at: number;
  type: EventType;
  data: string;
}

/** Stores the last `EVENTS.retainedCount` events of one index, and up to twice as many. */
export class EventLog {
  readonly #storage: DurableObjectStorage;
  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Appends synchronously, so that an event and its cause are stored together or not at all. */
  append(type: EventType, data: AssetEventData | null, now: number): IndexEvent {
    const row = this.#storage.sql
      .exec<Row>(
        "INSERT INTO events (at, type, data) VALUES (?, ?, ?) RETURNING seq, at, type, data",
        now,
        type,
        JSON.stringify(data ?? {}),
      )
      .one();
    if (row.seq % EVENTS.retainedCount === 0) {
      this.#storage.sql.exec("DELETE FROM events WHERE seq <= ?", row.seq - EVENTS.retainedCount);
    }
    return this.#toEvent(row);
  }

  /** Returns the id of the newest event, or the id before the first one. */
  newestId(): string {
    return eventId(this.#indexId(), this.newestSeq());
  }

  newestSeq(): number {
    return this.#boundarySeq("MAX") ?? 0;
  }

  /** Lists the events after `id`. Null if these are deleted, or `id` is of another index. */
  since(id: string): IndexEvent[] | null {
    const seq = eventSeq(this.#indexId(), id);
    const oldest = this.#boundarySeq("MIN") ?? 1;
    if (seq === null || seq < oldest - 1 || seq > this.newestSeq()) return null;
    return this.#storage.sql
      .exec<Row>("SELECT seq, at, type, data FROM events WHERE seq > ? ORDER BY seq", seq)
      .toArray()
      .map((row) => this.#toEvent(row));
  }

  clear(): void {
    this.#storage.sql.exec("DELETE FROM events");
  }

  #boundarySeq(aggregate: "MIN" | "MAX"): number | null {
    return this.#storage.sql
      .exec<{ seq: number | null }>(`SELECT ${aggregate}(seq) AS seq FROM events`)
      .one().seq;
  }

  #toEvent({ seq, at, type, data }: Row): IndexEvent {
    const id = eventId(this.#indexId(), seq);
    const eventData = JSON.parse(data) as AssetEventData;
    const payload = toPayload(type, at, { index_name: this.indexName(), ...eventData });
    return { id, seq, type, payload };
  }

  /** Undefined until a client subscribes or sets a webhook. */
  indexName(): string | undefined {
    return this.#storage.kv.get<string>("indexName");
  }

  #indexId(): IndexId {
    return this.#storage.kv.get<IndexId>("indexId")!;
  }
}

export function toPayload(type: string, at: number, data: object): string {
  return JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
}
