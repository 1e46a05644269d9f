import { beforeEach, describe, expect, it } from "vitest";
import type { Reply } from "../local/scripted-chat.ts";
import { MODELS } from "../src/config.ts";
import { meter } from "../src/models/meter.ts";
import { all, answering, say, start, TEXT, untilCancelled } from "./generated.ts";
import { errorOf, localAi } from "./local/bindings.ts";

const ai = localAi();
const { id } = MODELS.answer;

beforeEach(() => say());

describe("the model stops", () => {
  const long: Reply = { text: TEXT, pieces: 20, delayMs: 100 };

  it("where its reader leaves", async () => {
    await say(long);
    for await (const piece of start()) {
      expect(piece).not.toBe("");
      break;
    }
    await untilCancelled(1);
  });

  it("where a signal aborts, also while nobody reads", async () => {
    await say(long);
    const stop = new AbortController();
    const answer = start({ signal: stop.signal });
    await answer.next();
    stop.abort(new Error("gone"));
    await untilCancelled(1);
    await expect(answer.next()).rejects.toThrow("gone");
  });

  it("while a piece is awaited", async () => {
    await say({ ...long, delayMs: 1000 });
    const stop = new AbortController();
    const answer = start({ signal: stop.signal });
    await answer.next();
    const awaited = errorOf(answer.next());
    stop.abort(new Error("gone"));
    expect((await awaited).message).toBe("gone");
    await untilCancelled(1);
  });

  it("at once, though it says nothing", async () => {
    const cancelled = Promise.withResolvers<void>();
    const silence = new ReadableStream({ cancel: () => cancelled.resolve() });
    const stop = new AbortController();
    const awaited = errorOf(
      start({ signal: stop.signal, through: meter(answering(silence)).ai }).next(),
    );
    stop.abort(new Error("gone"));
    expect((await awaited).message).toBe("gone");
    await cancelled.promise;
  });

  it("before it is asked", async () => {
    await say(long);
    expect((await errorOf(all({ signal: AbortSignal.abort(new Error("gone")) }))).message).toBe(
      "gone",
    );
    expect(await ai.asked(id)).toEqual([]);
  });
});
