import { EVENTS } from "../config.ts";
import { HEARTBEAT } from "./sse.ts";

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
