import { EVENTS } from "../config.ts";
import { eventId, eventSeq, type IndexId } from "../ids.ts";
import type { EventType } from "../types.ts";
import type { AssetNews } from "./asset-news.ts";

export interface IndexEvent {
  /** Grows from event to event of an index, also as a text; no other index has it. */
  id: string;
  seq: number;
  type: EventType;
  /** JSON by the shape of Standard Webhooks: `{type, timestamp, data}`. */
  payload: string;
}

interface Row extends Record<string, SqlStorageValue> {
  seq: number;
  at: number;
  type: EventType;
  data: string;
}

/** The last `EVENTS.kept` events of one index, and at most as many again. */
export class EventLog {
  readonly #storage: DurableObjectStorage;
  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Synchronous, so that it is stored together with what it tells of, or not at all. */
  append(type: EventType, news: AssetNews | null, now: number): IndexEvent {
    const row = this.#storage.sql
      .exec<Row>(
        "INSERT INTO events (at, type, data) VALUES (?, ?, ?) RETURNING seq, at, type, data",
        now,
        type,
        JSON.stringify(news ?? {}),
      )
      .one();
    if (row.seq % EVENTS.kept === 0) {
      this.#storage.sql.exec("DELETE FROM events WHERE seq <= ?", row.seq - EVENTS.kept);
    }
    return this.#toEvent(row);
  }

  /** Where the index is now: the id of the newest event, or of none where there was none yet. */
  newestId(): string {
    return eventId(this.#indexId(), this.newestSeq());
  }

  newestSeq(): number {
    return this.#edge("MAX") ?? 0;
  }

  /** What came after an event; null where that can't be told: it is too old, or not of this index. */
  since(id: string): IndexEvent[] | null {
    const seq = eventSeq(this.#indexId(), id);
    const oldest = this.#edge("MIN") ?? 1;
    if (seq === null || seq < oldest - 1 || seq > this.newestSeq()) return null;
    return this.#storage.sql
      .exec<Row>("SELECT seq, at, type, data FROM events WHERE seq > ? ORDER BY seq", seq)
      .toArray()
      .map((row) => this.#toEvent(row));
  }

  clear(): void {
    this.#storage.sql.exec("DELETE FROM events");
  }

  #edge(which: "MIN" | "MAX"): number | null {
    return this.#storage.sql
      .exec<{ seq: number | null }>(`SELECT ${which}(seq) AS seq FROM events`)
      .one().seq;
  }

  #toEvent({ seq, at, type, data }: Row): IndexEvent {
    const id = eventId(this.#indexId(), seq);
    const news = JSON.parse(data) as AssetNews;
    const payload = toPayload(type, at, { index_name: this.indexName(), ...news });
    return { id, seq, type, payload };
  }

  /** Known from when somebody wants to be told on. */
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
