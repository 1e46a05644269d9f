import type { EventType } from "../types.ts";
import { type EventData, EventLog, type IndexEvent, toPayload } from "./event-log.ts";
import { eventFrame, openingFrame } from "./sse.ts";
import { Subscribers } from "./subscribers.ts";

/** Event log of one index, and the clients that follow it by server-sent events. */
export class EventStream {
  readonly #log: EventLog;
  readonly #subscribers = new Subscribers();
  #lastBroadcast: Promise<unknown> = Promise.resolve();

  constructor(storage: DurableObjectStorage) {
    this.#log = new EventLog(storage);
  }

  /** Appends synchronously, so that an event and its cause are stored together or not at all. */
  append(type: EventType, data: EventData | null, now: number): IndexEvent {
    return this.#log.append(type, data, now);
  }

  /**
   * Sends an event to all subscribers in the order of the calls, and not before `stateWritten` has
   * settled: a subscriber that then reads the asset's record finds the new state.
   */
  broadcast(event: IndexEvent, stateWritten: Promise<void>): Promise<unknown> {
    const ready = Promise.allSettled([this.#lastBroadcast, stateWritten]);
    this.#lastBroadcast = ready.then(() =>
      this.#subscribers.broadcast(event.seq, eventFrame(event)),
    );
    return this.#lastBroadcast;
  }

  /**
   * Opens a stream of server-sent events from now on, or of all since `lastEventId`. Begins with a
   * `reset` if these are no longer stored. Null if the index has its maximum of subscribers.
   */
  open(lastEventId: string | null, now: number): ReadableStream<Uint8Array> | null {
    return this.#subscribers.open(
      this.#formatOpening(lastEventId, now),
      this.#log.newestSeq(),
      now,
    );
  }

  close(): void {
    this.#subscribers.end();
    this.#log.clear();
  }

  #formatOpening(lastEventId: string | null, now: number): string {
    const newest = this.#log.newestId();
    if (lastEventId === null) return openingFrame(newest);
    const missed = this.#log.since(lastEventId);
    if (missed) return openingFrame(lastEventId) + missed.map(eventFrame).join("");
    const index_name = this.#log.indexName();
    const payload = toPayload("reset", now, { index_name });
    return openingFrame(newest) + eventFrame({ id: newest, type: "reset", payload });
  }
}
