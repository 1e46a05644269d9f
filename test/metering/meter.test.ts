import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { MODELS } from "../../src/config.ts";
import { localAi } from "../local/bindings.ts";
import {
  collectText,
  aiThatReturns,
  generationErrorCode,
  metered,
  scriptReplies,
  startGeneration,
  TEXT,
  untilCancelled,
} from "../support/generated.ts";
import { waitFor } from "../support/wait.ts";

const ai = localAi();
const { id, neurons } = MODELS.answer;

beforeEach(() => scriptReplies());

describe("a meter", () => {
  const neuronsFor = (input: number, output: number) =>
    (input * neurons[0] + output * neurons[1]) / 1e6;
  const usage = { prompt_tokens: 1000, completion_tokens: 100 };

  it.each(["chunks", "response", "whole"] as const)(
    "counts the tokens that a model reports: %s",
    async (style) => {
      const call = metered(env.AI);
      await scriptReplies({ text: TEXT, style, deltaCount: 5, usage });
      expect(await collectText({ ai: call.ai })).toMatchObject({ text: TEXT });
      expect(call.used).toEqual({
        modelCalls: 1,
        inputTokens: 1000,
        outputTokens: 100,
        neurons: neuronsFor(1000, 100),
      });
    },
  );

  it("counts text and reasoning of a stream until it is cancelled", async () => {
    const call = metered(env.AI);
    await scriptReplies({
      text: "A".repeat(80),
      deltaCount: 2,
      reasoning: "B".repeat(40),
      delayMs: 100,
    });
    for await (const _ of startGeneration({ ai: call.ai })) break;
    const input = Math.ceil("systemBe brief.userWho is there?".length / 4);
    await waitFor(() => expect(call.used.neurons).toBe(neuronsFor(input, 20)));
    expect(call.used.modelCalls).toBe(1);
    await untilCancelled(1);
  });

  it("counts the text of a stream that ends early", async () => {
    const call = metered(env.AI);
    await scriptReplies({ text: "A".repeat(80), deltaCount: 2, isTruncated: true });
    expect(await generationErrorCode({ ai: call.ai })).toBe("upstream_failed");
    const input = Math.ceil("systemBe brief.userWho is there?".length / 4);
    expect(call.used).toMatchObject({ modelCalls: 1, neurons: neuronsFor(input, 10) });
  });

  it("counts the text of a stream until it fails, and passes on the error", async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const call = metered(aiThatReturns(readable));
    const writer = writable.getWriter();
    const written = writer.write(new TextEncoder().encode('data: {"response":"A dog."}\n\n'));
    const generation = startGeneration({ ai: call.ai });
    expect(await generation.next()).toEqual({ done: false, value: "A dog." });
    await Promise.all([written, writer.abort(new Error("3040: Capacity temporarily exceeded"))]);
    await expect(generation.next()).rejects.toMatchObject({ code: "upstream_unavailable" });
    expect(call.used.neurons).toBeGreaterThan(0);
  });

  it("counts failed calls without neurons", async () => {
    const call = metered(env.AI);
    await ai.inject(id, "3040");
    expect(await generationErrorCode({ ai: call.ai })).toBe("upstream_unavailable");
    expect(call.used).toEqual({ modelCalls: 1 });
  });
});
