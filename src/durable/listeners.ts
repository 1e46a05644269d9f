import { EVENTS } from "../config.ts";
import { BEAT } from "./event-frames.ts";

interface Listener {
  controller: ReadableByteStreamController;
  /** The number of the newest event when it came, which it knows of. */
  knows: number;
  endsAt: number;
}

/**
 * Who listens to one index at present, as streams of bytes. Nothing is kept for those who don't read:
 * past what their stream may hold they are cut off, and come back to the place that they know.
 */
export class Listeners {
  readonly #open = new Set<Listener>();
  readonly #encoder = new TextEncoder();
  #beats: ReturnType<typeof setInterval> | undefined;

  /**
   * A stream that begins with `opening`, which goes up to event number `knows`; null where there are
   * `EVENTS.listeners` already. That some have left shows only when they are written to: so they are, and
   * trying again soon may help.
   */
  open(opening: string, knows: number, now: number): ReadableStream<Uint8Array> | null {
    if (this.#open.size >= EVENTS.listeners) {
      this.beat(now);
      return null;
    }
    const bytes = this.#encoder.encode(opening);
    let listener: Listener;
    const stream = new ReadableStream(
      {
        type: "bytes",
        start: (controller) => {
          listener = { controller, knows, endsAt: now + EVENTS.streamMs };
          this.#open.add(listener);
          controller.enqueue(bytes);
        },
        cancel: () => this.#forget(listener),
      },
      { highWaterMark: bytes.length + EVENTS.unreadBytes },
    );
    this.#beats ??= setInterval(() => this.beat(Date.now()), EVENTS.beatMs);
    return stream;
  }

  /** Tells all who don't know of event number `seq`. */
  tell(seq: number, frame: string): void {
    for (const listener of this.#open) if (seq > listener.knows) this.#write(listener, frame);
  }

  /** Shows that the connections stand, and ends those that have stood long enough. */
  beat(now: number): void {
    for (const listener of this.#open) {
      if (now >= listener.endsAt) this.#end(listener);
      else this.#write(listener, BEAT);
    }
  }

  end(): void {
    for (const listener of this.#open) this.#end(listener);
  }

  #write(listener: Listener, text: string): void {
    const { controller } = listener;
    if ((controller.desiredSize ?? 0) > 0) return controller.enqueue(this.#encoder.encode(text));
    this.#forget(listener);
    controller.error(new Error("too much was left unread"));
  }

  #end(listener: Listener): void {
    this.#forget(listener);
    listener.controller.close();
  }

  #forget(listener: Listener): void {
    this.#open.delete(listener);
    if (this.#open.size > 0) return;
    clearInterval(this.#beats);
    this.#beats = undefined;
  }
}
