import type { EventSourceMessage } from "eventsource-parser";
import { EventSourceParserStream } from "eventsource-parser/stream";
import type { Client, Json } from "./client.ts";

export interface ReceivedEvent {
  id: string;
  type: string;
  data: Json;
}

/** Reads the event stream of an index with the parser of eventsource-parser. */
export class EventReader {
  readonly #reader: ReadableStreamDefaultReader<EventSourceMessage>;

  private constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream())
      .getReader();
  }

  static async open(client: Client, index: string, lastEventId?: string): Promise<EventReader> {
    const headers = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
    const response = await client.send("GET", `/index/${index}/events`, { headers });
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    return new EventReader(response.body!);
  }

  /** Null at the end of the stream. */
  async next(): Promise<ReceivedEvent | null> {
    const { value, done } = await this.#reader.read();
    if (done) return null;
    const { type, data } = JSON.parse(value.data);
    if (type !== value.event) throw new Error(`${value.event} has the type ${type}`);
    return { id: value.id!, type, data };
  }

  /** Reads events up to the first for which `isLast` is true. */
  async until(isLast: (event: ReceivedEvent) => boolean): Promise<ReceivedEvent[]> {
    const events: ReceivedEvent[] = [];
    for (;;) {
      const event = await this.next();
      if (!event) return events;
      events.push(event);
      if (isLast(event)) return events;
    }
  }

  async close(): Promise<void> {
    await this.#reader.cancel();
  }
}

/** Whether an event ends an ingest. */
export function isTerminal({ data }: ReceivedEvent): boolean {
  return data.state === "ready" || data.state === "failed";
}

/** Returns the id of an index's event number `seq`. */
export async function eventIdOf(client: Client, index: string, seq: number): Promise<string> {
  const response = await client.send("GET", `/index/${index}/events`);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return /^id: (.*_)\d+$/m.exec(value!)![1]! + String(seq).padStart(10, "0");
}
