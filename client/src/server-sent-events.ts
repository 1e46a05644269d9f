import { createParser } from "eventsource-parser";
import { ConnectionError } from "./errors.ts";
import { ignoreAfterUse } from "./ignored-errors.ts";
import { orAbort } from "./retries.ts";

export interface ServerSentEvent {
  /** Id of the last event that had one. */
  id: string;
  event: string;
  data: string;
}

/** Parser of the server-sent events of streams, one after the other. */
export class EventParser {
  /** Id of the last event that had one, even if it had no data. */
  lastEventId: string;
  readonly #parser: ReturnType<typeof createParser>;
  #events: ServerSentEvent[] = [];

  constructor(lastEventId = "") {
    this.lastEventId = lastEventId;
    this.#parser = createParser({
      onId: (id) => (this.lastEventId = id),
      onEvent: ({ event, data }) => {
        this.#events.push({ id: this.lastEventId, event: event || "message", data });
      },
    });
  }

  /**
   * Drops an unfinished event before another stream is read.
   * @example
   * parser.reset();
   */
  reset(): void {
    this.#parser.reset();
  }

  /**
   * Returns the events that the text completes.
   * @example
   * const [event] = parser.push("event: delta\ndata: {}\n\n");
   */
  push(text: string): ServerSentEvent[] {
    this.#parser.feed(text);
    return this.#events.splice(0);
  }
}

/**
 * Yields the events of a response. Disconnects if the consumer stops or the signal aborts. Throws a
 * `ConnectionError` if the connection breaks.
 */
export async function* readEvents(
  { body }: Response,
  signal: AbortSignal | undefined,
  parser = new EventParser(),
): AsyncGenerator<ServerSentEvent> {
  if (!body) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await orAbort(reader.read(), signal).catch((cause: unknown) => {
        signal?.throwIfAborted();
        throw new ConnectionError("The event stream broke off.", { cause });
      });
      if (done) return;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    void reader.cancel().catch(ignoreAfterUse);
  }
}
