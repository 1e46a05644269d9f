import type { EventSourceMessage } from "eventsource-parser";
import { EventSourceParserStream } from "eventsource-parser/stream";
import type { Client, Json } from "./client.ts";

export interface Heard {
  id: string;
  type: string;
  data: Json;
}

/** Listens to an index's events, read by another's parser. */
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

  /** Null where the stream has ended. */
  async next(): Promise<Heard | null> {
    const { value, done } = await this.#reader.read();
    if (done) return null;
    const { type, data } = JSON.parse(value.data);
    if (type !== value.event) throw new Error(`${value.event} is told as ${type}`);
    return { id: value.id!, type, data };
  }

  /** All up to the one that `isLast` says is it. */
  async until(isLast: (event: Heard) => boolean): Promise<Heard[]> {
    const heard: Heard[] = [];
    for (;;) {
      const event = await this.next();
      if (!event) return heard;
      heard.push(event);
      if (isLast(event)) return heard;
    }
  }

  async leave(): Promise<void> {
    await this.#reader.cancel();
  }
}

/** The end of an asset's ingest. */
export function isOver({ data }: Heard): boolean {
  return data.state === "ready" || data.state === "failed";
}
