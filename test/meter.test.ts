import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { MODELS } from "../src/config.ts";
import { meter } from "../src/models/meter.ts";
import {
  collectText,
  aiThatReturns,
  generationErrorCode,
  scriptReplies,
  startGeneration,
  TEXT,
  untilCancelled,
} from "./generated.ts";
import { localAi } from "./local/bindings.ts";

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
      const metered = meter(env.AI);
      await scriptReplies({ text: TEXT, style, deltaCount: 5, usage });
      expect(await collectText({ ai: metered.ai })).toMatchObject({ text: TEXT });
      expect(metered.used).toEqual({ modelCalls: 1, neurons: neuronsFor(1000, 100) });
    },
  );

  it("counts text and reasoning of a stream until it is cancelled", async () => {
    const metered = meter(env.AI);
    await scriptReplies({
      text: "A".repeat(80),
      deltaCount: 2,
      reasoning: "B".repeat(40),
      delayMs: 100,
    });
    for await (const _ of startGeneration({ ai: metered.ai })) break;
    const input = Math.ceil("systemBe brief.userWho is there?".length / 4);
    await vi.waitFor(() => expect(metered.used.neurons).toBe(neuronsFor(input, 20)));
    expect(metered.used.modelCalls).toBe(1);
    await untilCancelled(1);
  });

  it("counts the text of a stream that ends early", async () => {
    const metered = meter(env.AI);
    await scriptReplies({ text: "A".repeat(80), deltaCount: 2, isTruncated: true });
    expect(await generationErrorCode({ ai: metered.ai })).toBe("upstream_failed");
    const input = Math.ceil("systemBe brief.userWho is there?".length / 4);
    expect(metered.used).toEqual({ modelCalls: 1, neurons: neuronsFor(input, 10) });
  });

  it("counts the text of a stream until it fails, and passes on the error", async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const metered = meter(aiThatReturns(readable));
    const writer = writable.getWriter();
    const written = writer.write(new TextEncoder().encode('data: {"response":"A dog."}\n\n'));
    const generation = startGeneration({ ai: metered.ai });
    expect(await generation.next()).toEqual({ done: false, value: "A dog." });
    await Promise.all([written, writer.abort(new Error("3040: Capacity temporarily exceeded"))]);
    await expect(generation.next()).rejects.toMatchObject({ code: "upstream_unavailable" });
    expect(metered.used.neurons).toBeGreaterThan(0);
  });

  it("counts failed calls without neurons", async () => {
    const metered = meter(env.AI);
    await ai.inject(id, "3040");
    expect(await generationErrorCode({ ai: metered.ai })).toBe("upstream_unavailable");
    expect(metered.used).toEqual({ modelCalls: 1, neurons: 0 });
  });
});
