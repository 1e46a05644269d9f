import { EVENTS } from "../config.ts";
import { eventId, eventSeq, type IndexId } from "../ids.ts";
import { raw, sql, type SqlFragment } from "../store/sql.ts";
import type { EventType } from "../types.ts";
import type { AssetEventData } from "./asset-events.ts";
import { exec, readObjects } from "./counted-storage.ts";
import type { MatchEventData } from "./match-events.ts";

/** What an event says beside its type. */
export type EventData = AssetEventData | MatchEventData;

export interface IndexEvent {
  /** Unique across indices. Grows from event to event of an index, compared as text too. */
  id: string;
  seq: number;
  type: EventType;
  /** JSON in the shape of Standard Webhooks: `{type, timestamp, data}`. */
  payload: string;
}

interface EventRow {
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
  append(type: EventType, data: EventData | null, now: number): IndexEvent {
    const [row] = this.#read(
      sql`INSERT INTO events (at, type, data)
        VALUES (${now}, ${type}, ${JSON.stringify(data ?? {})}) RETURNING seq, at, type, data`,
    );
    if (row!.seq % EVENTS.retainedCount === 0) {
      const last = row!.seq - EVENTS.retainedCount;
      exec(this.#storage.sql, sql`DELETE FROM events WHERE seq <= ${last}`);
    }
    return this.#toEvent(row!);
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
    return this.#read(
      sql`SELECT seq, at, type, data FROM events WHERE seq > ${seq} ORDER BY seq`,
    ).map((row) => this.#toEvent(row));
  }

  clear(): void {
    exec(this.#storage.sql, sql`DELETE FROM events`);
  }

  #read<Columns = EventRow>(statement: SqlFragment): Columns[] {
    return readObjects(this.#storage.sql, statement);
  }

  #boundarySeq(aggregate: "MIN" | "MAX"): number | null {
    const bounds = sql`SELECT ${raw(aggregate)}(seq) AS seq FROM events`;
    return this.#read<{ seq: number | null }>(bounds)[0]!.seq;
  }

  #toEvent({ seq, at, type, data }: EventRow): IndexEvent {
    const id = eventId(this.#indexId(), seq);
    const eventData = JSON.parse(data) as EventData;
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
