import type { IndexId } from "../ids.ts";
import type { DeliveryMessage } from "../messages.ts";
import type { EventType } from "../types.ts";
import type { AssetEventData } from "./asset-events.ts";
import type { EventData, IndexEvent } from "./event-log.ts";
import type { EventStream } from "./event-stream.ts";
import { enqueueAll } from "./outbox.ts";
import type { Webhook } from "./webhook.ts";

/** An event that is stored with its delivery, if it has one, and not sent yet. */
export interface AppendedEvent {
  event: IndexEvent;
  hasDelivery: boolean;
}

/** Publishes the events of one index: to its stream, and to webhooks. */
export class EventPublisher {
  readonly #queue: Env["WEBHOOKS"];
  readonly #storage: DurableObjectStorage;
  readonly #events: EventStream;
  readonly #webhook: Webhook;
  readonly #armAlarm: () => Promise<void>;

  constructor(
    queue: Env["WEBHOOKS"],
    storage: DurableObjectStorage,
    events: EventStream,
    webhook: Webhook,
    armAlarm: () => Promise<void>,
  ) {
    this.#queue = queue;
    this.#storage = storage;
    this.#events = events;
    this.#webhook = webhook;
    this.#armAlarm = armAlarm;
  }

  /**
   * Stores an event in the same turn as its cause. It is sent to `url`, or without one to the
   * webhook of the index.
   */
  append(type: EventType, data: EventData | null, url: string | null = null): AppendedEvent {
    const now = Date.now();
    const event = this.#events.append(type, data, now);
    return { event, hasDelivery: this.#webhook.add(event, now, url) };
  }

  /**
   * Dispatches the deliveries of events, and broadcasts these after the events before them, for
   * which it doesn't wait.
   */
  async send(appended: AppendedEvent[]): Promise<void> {
    for (const { event } of appended) void this.#events.broadcast(event, Promise.resolve());
    const seqs = appended.flatMap(({ event, hasDelivery }) => (hasDelivery ? event.seq : []));
    if (seqs.length > 0) await this.dispatch(seqs);
  }

  /**
   * Stores an event in the same turn as its cause, and broadcasts it once `stateWritten` has
   * settled. Returns the event's number.
   */
  async publish(
    type: EventType,
    data: AssetEventData | null,
    stateWritten: Promise<void>,
  ): Promise<number> {
    const { event, hasDelivery } = this.append(type, data);
    await this.#events.broadcast(event, stateWritten);
    if (hasDelivery) await this.dispatch([event.seq]);
    return event.seq;
  }

  /** Sends messages for deliveries. */
  async dispatch(seqs: number[]): Promise<void> {
    await this.#armAlarm();
    const indexId = this.#storage.kv.get<IndexId>("indexId")!;
    const messages = seqs.map((seq): DeliveryMessage => ({ indexId, seq }));
    await enqueueAll(this.#queue, messages, "webhook.enqueue_failed", { index: indexId });
  }
}
