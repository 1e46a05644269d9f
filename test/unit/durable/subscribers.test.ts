import { describe, expect, it } from "vitest";
import { EVENTS } from "../../../src/config.ts";
import { Subscribers } from "../../../src/durable/events.ts";

const decoder = new TextDecoder();
const opening = "retry: 1\n\n";

async function next(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string | null> {
  const { value, done } = await reader.read();
  return done ? null : decoder.decode(value);
}

describe("subscribers", () => {
  it("receive the events that their opening didn't cover", async () => {
    const subscribers = new Subscribers();
    const early = subscribers.open(opening, 3, 0)!.getReader();
    const late = subscribers.open(opening, 4, 0)!.getReader();
    subscribers.broadcast(4, "four");
    subscribers.broadcast(5, "five");
    expect([await next(early), await next(early), await next(early)]).toEqual([
      opening,
      "four",
      "five",
    ]);
    expect([await next(late), await next(late)]).toEqual([opening, "five"]);
    subscribers.end();
    expect([await next(early), await next(late)]).toEqual([null, null]);
  });

  it("receive heartbeats until their stream reaches its maximum age", async () => {
    const subscribers = new Subscribers();
    const reader = subscribers.open(opening, 0, 1000)!.getReader();
    subscribers.sendHeartbeat(1000 + EVENTS.streamMs - 1);
    subscribers.sendHeartbeat(1000 + EVENTS.streamMs);
    expect([await next(reader), await next(reader), await next(reader)]).toEqual([
      opening,
      ":\n\n",
      null,
    ]);
  });

  it("that don't read are cut off", async () => {
    const subscribers = new Subscribers();
    const slow = subscribers.open(opening.repeat(1000), 0, 0)!.getReader();
    const quick = subscribers.open(opening, 0, 0)!.getReader();
    await next(quick);
    const frame = "x".repeat(1024);
    for (let seq = 1; seq <= EVENTS.maxUnreadBytes / 1024 + 1; seq++) {
      subscribers.broadcast(seq, frame);
      expect(await next(quick)).toBe(frame);
    }
    await expect(next(slow)).rejects.toThrow("too slowly");
    subscribers.end();
  });

  it("are limited in number, and a cancelled stream makes room for another", async () => {
    const subscribers = new Subscribers();
    const streams = Array.from({ length: EVENTS.maxSubscribers }, () =>
      subscribers.open(opening, 0, 0)!,
    );
    expect(subscribers.open(opening, 0, 0)).toBeNull();
    await streams[7]!.cancel();
    expect(subscribers.open(opening, 0, 0)).not.toBeNull();
    subscribers.end();
  });
});
