import type { ApiPath } from "./api-path.ts";
import { ConnectionError } from "./errors.ts";
import { wait } from "./retries.ts";
import { EventParser, readEvents } from "./server-sent-events.ts";
import type { Transport } from "./transport.ts";
import type { IndexEvent } from "./types.ts";

export interface EventOptions {
  /** Begins with the events after this one. */
  lastEventId?: string | undefined;
  /** Is called each time that a stream has opened: no later event is missed. */
  onOpen?: (() => void) | undefined;
  signal?: AbortSignal | undefined;
}

const RECONNECT_MS = 1000;

/**
 * Yields the events of an index until the signal aborts, the consumer stops, or the index is
 * deleted. Connects again when a stream ends, without missing or repeating an event.
 */
export async function* followEvents(
  transport: Transport,
  indexPath: ApiPath,
  { lastEventId = "", ...options }: EventOptions,
): AsyncGenerator<IndexEvent> {
  const signal = transport.signalOf(options.signal);
  const parser = new EventParser(lastEventId);
  for (;;) {
    parser.reset();
    const id = parser.lastEventId;
    const headers: Record<string, string> = id === "" ? {} : { "Last-Event-ID": id };
    const request = { method: "GET", path: [...indexPath, "events"], headers } as const;
    const response = await transport.open(request, { signal });
    options.onOpen?.();
    try {
      for await (const event of readEvents(response, signal, parser)) {
        yield { ...(JSON.parse(event.data) as IndexEvent), id: event.id };
      }
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
    }
    await wait(RECONNECT_MS, signal);
  }
}
