import { beforeEach, describe, expect, it } from "vitest";
import type { Reply } from "../../local/scripted-chat.ts";
import { MODELS } from "../../src/config.ts";
import type { ErrorCode } from "../../src/errors.ts";
import type { GenerateLimits } from "../../src/models/generate.ts";
import { localAi } from "../local/bindings.ts";
import {
  collectText,
  aiThatReturns,
  generationErrorCode,
  PROMPT,
  scriptReplies,
  startGeneration,
  TEXT,
  untilCancelled,
} from "../support/generated.ts";

const ai = localAi();
const { id } = MODELS.answer;

function toEventStream(...events: string[]): ReadableStream<Uint8Array> {
  return new Blob(events.map((data) => `data: ${data}\n\n`)).stream();
}

beforeEach(() => scriptReplies());

describe("generated text", () => {
  const usage = { prompt_tokens: 20, completion_tokens: 9 };

  it.each(["chunks", "response", "whole"] as const)("is streamed in chunks: %s", async (style) => {
    await scriptReplies({ text: TEXT, style, deltaCount: 12, usage });
    const { chunks, ...answer } = await collectText();
    expect(answer).toEqual({
      text: TEXT,
      model: style === "response" ? id : expect.any(String),
      usage: { inputTokens: 20, outputTokens: 9 },
      isComplete: true,
    });
    expect(chunks.join("")).toBe(TEXT);
    expect(chunks.length).toBe(style === "whole" ? 1 : 12);
    expect(await ai.cancelledStreams(id)).toBe(0);
  });

  it("is yielded while the model still generates", async () => {
    await scriptReplies({ text: "A dog.", deltaCount: 2, delayMs: 2500 });
    const answer = startGeneration({ limits: { timeoutMs: 1500 } });
    expect(await answer.next()).toEqual({ done: false, value: "A d" });
    await expect(answer.next()).rejects.toMatchObject({ code: "upstream_timeout" });
  });

  it("may take longer than the limit of the first token", async () => {
    await scriptReplies({ text: TEXT, deltaCount: 6, delayMs: 300 });
    expect(await collectText({ limits: { firstTokenMs: 1000 } })).toMatchObject({ text: TEXT });
  });

  it.each(["chunks", "response", "whole"] as const)("has no reasoning: %s", async (style) => {
    await scriptReplies(
      { text: TEXT, style, deltaCount: 9, reasoning: "Is it a cat?" },
      { text: `<think>Is it</think>\n${TEXT}<think>Or`, style, deltaCount: 30 },
      { text: `<|channel>thought\n<channel|>${TEXT}`, style, deltaCount: 30 },
    );
    for (let i = 0; i < 3; i += 1) expect(await collectText()).toMatchObject({ text: TEXT });
  });

  it("may be the whole response of an older model", async () => {
    const usage = { prompt_tokens: 20, completion_tokens: 9 };
    expect(await collectText({ ai: aiThatReturns({ response: TEXT, usage }) })).toMatchObject({
      text: TEXT,
      usage: { inputTokens: 20, outputTokens: 9 },
      isComplete: true,
    });
  });

  it("at the token limit is incomplete", async () => {
    await scriptReplies(
      { text: TEXT, finishReason: "length" },
      { text: TEXT, style: "whole", finishReason: "length" },
    );
    expect(await collectText()).toMatchObject({ text: TEXT, isComplete: false });
    expect(await collectText()).toMatchObject({ text: TEXT, isComplete: false });
  });

  it("may be empty", async () => {
    await scriptReplies({ text: "" }, { text: "<think>I can't", style: "response" });
    expect(await collectText()).toMatchObject({ text: "", chunks: [] });
    expect(await collectText()).toMatchObject({ text: "", chunks: [] });
  });

  it.each(["chunks", "response", "whole"] as const)(
    "has estimated tokens if the model reports none: %s",
    async (style) => {
      await scriptReplies({ text: "x".repeat(40), style, usage: null });
      const { usage } = await collectText({
        prompt: { system: "s".repeat(400), content: [{ text: "t".repeat(396) }] },
      });
      expect(usage).toEqual({
        inputTokens: Math.ceil((400 + 396 + "systemuser".length) / 4),
        outputTokens: 10,
      });
    },
  );
});

describe("a model's input", () => {
  const options = {
    max_tokens: MODELS.answer.maxTokens,
    temperature: 0.2,
    stream: true,
    stream_options: { include_usage: true },
    chat_template_kwargs: { enable_thinking: false },
  };
  const system = { role: "system", content: "Be brief." };

  it("is plain text without images", async () => {
    await scriptReplies({ text: "." });
    await collectText({
      prompt: { ...PROMPT, content: [{ text: "Evidence." }, { text: "Who?" }] },
    });
    const user = { role: "user", content: "Evidence.\n\nWho?" };
    expect(await ai.scriptedInputs(id)).toEqual([{ ...options, messages: [system, user] }]);
  });

  it("has images and `top_p`", async () => {
    await scriptReplies({ text: "." });
    const jpeg = Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0, 16, 0x4a, 0x46, 0x49, 0x46);
    const content = [{ text: "At 3 s:" }, { jpeg }, { text: "Who?" }];
    await collectText({ prompt: { ...PROMPT, content, topP: 0.4 } });
    const url = `data:image/jpeg;base64,${Buffer.from(jpeg).toString("base64")}`;
    const parts = [
      { type: "text", text: "At 3 s:" },
      { type: "image_url", image_url: { url } },
      { type: "text", text: "Who?" },
    ];
    const messages = [system, { role: "user", content: parts }];
    expect(await ai.scriptedInputs(id)).toEqual([{ ...options, messages, top_p: 0.4 }]);
  });
});

describe("failed generation", () => {
  it.each<[ErrorCode, "3021" | "3036" | "3040" | "3007" | "5007"]>([
    ["upstream_unavailable", "3021"],
    ["upstream_unavailable", "3036"],
    ["upstream_unavailable", "3040"],
    ["upstream_timeout", "3007"],
    ["model_not_found", "5007"],
  ])("throws %s for the platform's code %s", async (code, fault) => {
    await ai.inject(id, fault);
    expect(await generationErrorCode()).toBe(code);
  });

  it("throws model_not_found without a model", async () => {
    expect(await generationErrorCode()).toBe("model_not_found");
  });

  it("throws upstream_failed if the stream ends early", async () => {
    await scriptReplies(
      { text: TEXT, deltaCount: 6, isTruncated: true },
      { text: TEXT, deltaCount: 6, isTruncated: true, style: "response" },
    );
    expect(await generationErrorCode()).toBe("upstream_failed");
    expect(await generationErrorCode()).toBe("upstream_failed");
  });

  it("throws upstream_failed for an invalid event", async () => {
    await scriptReplies({ text: TEXT, deltaCount: 6 });
    await ai.inject(id, "malformed");
    expect(await generationErrorCode()).toBe("upstream_failed");
  });

  it.each<[string, unknown]>([
    ["a stream with another event", toEventStream('{"response":"A"}', '{"error":"no"}', "[DONE]")],
    ["an empty stream", toEventStream()],
    ["another object", { error: "no" }],
    ["no response", undefined],
  ])("throws upstream_failed for %s", async (_, response) => {
    expect(await generationErrorCode({ ai: aiThatReturns(response) })).toBe("upstream_failed");
  });

  it.each<[string, Reply, Partial<GenerateLimits>]>([
    [
      "before the first token",
      { text: TEXT, reasoning: "Hm", delayMs: 2000 },
      { firstTokenMs: 300 },
    ],
    ["of the whole stream", { text: TEXT, deltaCount: 20, delayMs: 150 }, { timeoutMs: 400 }],
  ])("throws upstream_timeout at the limit %s", async (_, reply, limits) => {
    await scriptReplies(reply);
    expect(await generationErrorCode({ limits })).toBe("upstream_timeout");
    await untilCancelled(1);
  });

  it("throws upstream_timeout if the call takes too long, and cancels it", async () => {
    await ai.inject(id, "slow:20000");
    await scriptReplies({ text: TEXT });
    expect(await generationErrorCode({ limits: { firstTokenMs: 100 } })).toBe("upstream_timeout");
    await expect.poll(() => ai.takeCancelledCalls(id)).toBe(1);
    expect(await ai.scriptedInputs(id)).toEqual([]);
  });
});
