import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { MODELS } from "../src/config.ts";
import { meter } from "../src/models/meter.ts";
import { all, answering, codeOf, say, start, TEXT, untilCancelled } from "./generated.ts";
import { localAi } from "./local/bindings.ts";

const ai = localAi();
const { id, neurons } = MODELS.answer;

beforeEach(() => say());

describe("a meter counts", () => {
  const used = (input: number, output: number) => (input * neurons[0] + output * neurons[1]) / 1e6;
  const usage = { prompt_tokens: 1000, completion_tokens: 100 };

  it.each(["chunks", "response", "whole"] as const)("what the model says, as %s", async (style) => {
    const metered = meter(env.AI);
    await say({ text: TEXT, style, pieces: 5, usage });
    expect(await all({ through: metered.ai })).toMatchObject({ text: TEXT });
    expect(metered.used).toEqual({ modelCalls: 1, neurons: used(1000, 100) });
  });

  it("what a stream has said until it was cancelled, also what it thought", async () => {
    const metered = meter(env.AI);
    await say({ text: "A".repeat(80), pieces: 2, thinks: "B".repeat(40), delayMs: 100 });
    for await (const _ of start({ through: metered.ai })) break;
    const input = Math.ceil("systemBe brief.userWho is there?".length / 4);
    await vi.waitFor(() => expect(metered.used.neurons).toBe(used(input, 20)));
    expect(metered.used.modelCalls).toBe(1);
    await untilCancelled(1);
  });

  it("what a stream has said until it broke off", async () => {
    const metered = meter(env.AI);
    await say({ text: "A".repeat(80), pieces: 2, breaksOff: true });
    expect(await codeOf({ through: metered.ai })).toBe("upstream_failed");
    const input = Math.ceil("systemBe brief.userWho is there?".length / 4);
    expect(metered.used).toEqual({ modelCalls: 1, neurons: used(input, 10) });
  });

  it("what a stream has said until it failed, for a reason that is told", async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const metered = meter(answering(readable));
    const writer = writable.getWriter();
    const written = writer.write(new TextEncoder().encode('data: {"response":"A dog."}\n\n'));
    const answer = start({ through: metered.ai });
    expect(await answer.next()).toEqual({ done: false, value: "A dog." });
    await Promise.all([written, writer.abort(new Error("3040: Capacity temporarily exceeded"))]);
    await expect(answer.next()).rejects.toMatchObject({ code: "upstream_unavailable" });
    expect(metered.used.neurons).toBeGreaterThan(0);
  });

  it("calls that were refused", async () => {
    const metered = meter(env.AI);
    await ai.inject(id, "3040");
    expect(await codeOf({ through: metered.ai })).toBe("upstream_unavailable");
    expect(metered.used).toEqual({ modelCalls: 1, neurons: 0 });
  });
});
