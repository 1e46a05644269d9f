import { beforeEach, describe, expect, it } from "vitest";
import type { Reply } from "../../local/scripted-chat.ts";
import { MODELS } from "../../src/config.ts";
import { errorOf, localAi } from "../local/bindings.ts";
import {
  collectText,
  aiThatReturns,
  metered,
  scriptReplies,
  startGeneration,
  TEXT,
  untilCancelled,
} from "../support/generated.ts";

const ai = localAi();
const { id } = MODELS.answer;

beforeEach(() => scriptReplies());

describe("a model's stream is cancelled", () => {
  const longReply: Reply = { text: TEXT, deltaCount: 20, delayMs: 100 };

  it("when its reader stops", async () => {
    await scriptReplies(longReply);
    for await (const chunk of startGeneration()) {
      expect(chunk).not.toBe("");
      break;
    }
    await untilCancelled(1);
  });

  it("when a signal aborts while nothing is read", async () => {
    await scriptReplies(longReply);
    const controller = new AbortController();
    const generation = startGeneration({ signal: controller.signal });
    await generation.next();
    controller.abort(new Error("gone"));
    await untilCancelled(1);
    await expect(generation.next()).rejects.toThrow("gone");
  });

  it("when a signal aborts while a chunk is awaited", async () => {
    await scriptReplies({ ...longReply, delayMs: 1000 });
    const controller = new AbortController();
    const generation = startGeneration({ signal: controller.signal });
    await generation.next();
    const failure = errorOf(generation.next());
    controller.abort(new Error("gone"));
    expect((await failure).message).toBe("gone");
    await untilCancelled(1);
  });

  it("when a signal aborts before the first chunk", async () => {
    const cancelled = Promise.withResolvers<void>();
    const silentStream = new ReadableStream({ cancel: () => cancelled.resolve() });
    const controller = new AbortController();
    const failure = errorOf(
      startGeneration({
        signal: controller.signal,
        ai: metered(aiThatReturns(silentStream)).ai,
      }).next(),
    );
    controller.abort(new Error("gone"));
    expect((await failure).message).toBe("gone");
    await cancelled.promise;
  });

  it("before the call if the signal has already aborted", async () => {
    await scriptReplies(longReply);
    expect(
      (await errorOf(collectText({ signal: AbortSignal.abort(new Error("gone")) }))).message,
    ).toBe("gone");
    expect(await ai.scriptedInputs(id)).toEqual([]);
  });
});
