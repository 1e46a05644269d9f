import { ConnectionError } from "./errors.ts";
import { orAbort } from "./retries.ts";

export interface ServerSentEvent {
  /** Id of the last event that had one. */
  id: string;
  event: string;
  data: string;
}

/** Parser of server-sent events (WHATWG HTML, 9.2.6). */
export class EventParser {
  /** Id of the last event that had one, also if it had no data. */
  lastEventId: string;
  #rest = "";
  #id: string;
  #event = "";
  #data: string[] = [];

  constructor(lastEventId = "") {
    this.lastEventId = lastEventId;
    this.#id = lastEventId;
  }

  /** Drops an unfinished event before another stream is read. */
  reset(): void {
    this.#rest = "";
    this.#id = this.lastEventId;
    this.#event = "";
    this.#data = [];
  }

  /** Returns the events that the text completes. */
  push(text: string): ServerSentEvent[] {
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.#readLine(line));
  }

  #readLine(line: string): ServerSentEvent[] {
    if (line === "") return this.#dispatch();
    const [, field = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#event = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    return [];
  }

  #dispatch(): ServerSentEvent[] {
    this.lastEventId = this.#id;
    const data = this.#data.join("\n");
    const event = this.#event || "message";
    const isEmpty = this.#data.length === 0;
    this.#data = [];
    this.#event = "";
    return isEmpty ? [] : [{ id: this.lastEventId, event, data }];
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
    void reader.cancel().catch(() => undefined);
  }
}
