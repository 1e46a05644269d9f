import type { EventType } from "../types.ts";
import type { AssetNews } from "./asset-news.ts";
import { eventFrame, openingFrame } from "./event-frames.ts";
import { EventLog, type IndexEvent, toPayload } from "./event-log.ts";
import { Listeners } from "./listeners.ts";

/** What happens in one index, kept for a while and told to who listens. */
export class EventStream {
  readonly #log: EventLog;
  readonly #listeners = new Listeners();
  #told: Promise<unknown> = Promise.resolve();

  constructor(storage: DurableObjectStorage) {
    this.#log = new EventLog(storage);
  }

  /** Synchronous, so that an event is stored together with what it tells of, or not at all. */
  append(type: EventType, news: AssetNews | null, now: number): IndexEvent {
    return this.#log.append(type, news, now);
  }

  /**
   * Tells who listens, once the record that they may then read says it too, in the order of the calls.
   */
  tell(event: IndexEvent, shown: Promise<void>): Promise<unknown> {
    const told = Promise.allSettled([this.#told, shown]);
    this.#told = told.then(() => this.#listeners.tell(event.seq, eventFrame(event)));
    return this.#told;
  }

  /**
   * Server-sent events from now on, or all since `lastEventId`; where these can't be told, a `reset` first.
   * Null where enough are listening.
   */
  open(lastEventId: string | null, now: number): ReadableStream<Uint8Array> | null {
    return this.#listeners.open(this.#opening(lastEventId, now), this.#log.newestSeq(), now);
  }

  close(): void {
    this.#listeners.end();
    this.#log.clear();
  }

  #opening(lastEventId: string | null, now: number): string {
    const newest = this.#log.newestId();
    if (lastEventId === null) return openingFrame(newest);
    const missed = this.#log.since(lastEventId);
    if (missed) return openingFrame(lastEventId) + missed.map(eventFrame).join("");
    const index_name = this.#log.indexName();
    const payload = toPayload("reset", now, { index_name });
    return openingFrame(newest) + eventFrame({ id: newest, type: "reset", payload });
  }
}
