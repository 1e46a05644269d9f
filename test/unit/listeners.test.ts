import { describe, expect, it } from "vitest";
import { EVENTS } from "../../src/config.ts";
import { Listeners } from "../../src/durable/listeners.ts";

const decoder = new TextDecoder();
const opening = "retry: 1\n\n";

async function next(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string | null> {
  const { value, done } = await reader.read();
  return done ? null : decoder.decode(value);
}

describe("listeners", () => {
  it("hear what they don't know of, each in their own stream", async () => {
    const listeners = new Listeners();
    const early = listeners.open(opening, 3, 0)!.getReader();
    const late = listeners.open(opening, 4, 0)!.getReader();
    listeners.tell(4, "four");
    listeners.tell(5, "five");
    expect([await next(early), await next(early), await next(early)]).toEqual([
      opening,
      "four",
      "five",
    ]);
    expect([await next(late), await next(late)]).toEqual([opening, "five"]);
    listeners.end();
    expect([await next(early), await next(late)]).toEqual([null, null]);
  });

  it("are shown that the connection stands, until it has stood long enough", async () => {
    const listeners = new Listeners();
    const reader = listeners.open(opening, 0, 1000)!.getReader();
    listeners.beat(1000 + EVENTS.streamMs - 1);
    listeners.beat(1000 + EVENTS.streamMs);
    expect([await next(reader), await next(reader), await next(reader)]).toEqual([
      opening,
      ":\n\n",
      null,
    ]);
  });

  it("who don't read are cut off, with nothing kept for them", async () => {
    const listeners = new Listeners();
    const slow = listeners.open(opening.repeat(1000), 0, 0)!.getReader();
    const quick = listeners.open(opening, 0, 0)!.getReader();
    await next(quick);
    const frame = "x".repeat(1024);
    for (let seq = 1; seq <= EVENTS.unreadBytes / 1024 + 1; seq++) {
      listeners.tell(seq, frame);
      expect(await next(quick)).toBe(frame);
    }
    await expect(next(slow)).rejects.toThrow("unread");
    listeners.end();
  });

  it("have so many places, which those who leave make free", async () => {
    const listeners = new Listeners();
    const streams = Array.from({ length: EVENTS.listeners }, () => listeners.open(opening, 0, 0)!);
    expect(listeners.open(opening, 0, 0)).toBeNull();
    await streams[7]!.cancel();
    expect(listeners.open(opening, 0, 0)).not.toBeNull();
    listeners.end();
  });
});
