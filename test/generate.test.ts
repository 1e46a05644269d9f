import { beforeEach, describe, expect, it } from "vitest";
import type { Reply } from "../local/scripted-chat.ts";
import { MODELS } from "../src/config.ts";
import type { ErrorCode } from "../src/errors.ts";
import type { GenerateLimits } from "../src/models/generate.ts";
import { all, answering, codeOf, PROMPT, say, start, TEXT, untilCancelled } from "./generated.ts";
import { localAi } from "./local/bindings.ts";

const ai = localAi();
const { id } = MODELS.answer;

function sayingOf(...data: string[]): ReadableStream<Uint8Array> {
  return new Blob(data.map((one) => `data: ${one}\n\n`)).stream();
}

beforeEach(() => say());

describe("an answer", () => {
  const usage = { prompt_tokens: 20, completion_tokens: 9 };

  it.each(["chunks", "response", "whole"] as const)("comes in pieces, as %s", async (style) => {
    await say({ text: TEXT, style, pieces: 12, usage });
    const { pieces, ...answer } = await all();
    expect(answer).toEqual({
      text: TEXT,
      model: style === "response" ? id : expect.any(String),
      usage: { inputTokens: 20, outputTokens: 9 },
      isComplete: true,
    });
    expect(pieces.join("")).toBe(TEXT);
    expect(pieces.length).toBe(style === "whole" ? 1 : 12);
    expect(await ai.cancelled(id)).toBe(0);
  });

  it("comes while the model still speaks", async () => {
    await say({ text: "A dog.", pieces: 2, delayMs: 2500 });
    const answer = start({ limits: { timeoutMs: 1500 } });
    expect(await answer.next()).toEqual({ done: false, value: "A d" });
    await expect(answer.next()).rejects.toMatchObject({ code: "upstream_timeout" });
  });

  it("has time once it has begun", async () => {
    await say({ text: TEXT, pieces: 6, delayMs: 300 });
    expect(await all({ limits: { firstTokenMs: 1000 } })).toMatchObject({ text: TEXT });
  });

  it.each(["chunks", "response", "whole"] as const)(
    "keeps thoughts to itself, as %s",
    async (style) => {
      await say(
        { text: TEXT, style, pieces: 9, thinks: "Is it a cat?" },
        { text: `<think>Is it</think>\n${TEXT}<think>Or`, style, pieces: 30 },
        { text: `<|channel>thought\n<channel|>${TEXT}`, style, pieces: 30 },
      );
      for (let i = 0; i < 3; i += 1) expect(await all()).toMatchObject({ text: TEXT });
    },
  );

  it("may be an older model's, as a whole", async () => {
    const usage = { prompt_tokens: 20, completion_tokens: 9 };
    expect(await all({ through: answering({ response: TEXT, usage }) })).toMatchObject({
      text: TEXT,
      usage: { inputTokens: 20, outputTokens: 9 },
      isComplete: true,
    });
  });

  it("tells where it was cut short", async () => {
    await say({ text: TEXT, finish: "length" }, { text: TEXT, style: "whole", finish: "length" });
    expect(await all()).toMatchObject({ text: TEXT, isComplete: false });
    expect(await all()).toMatchObject({ text: TEXT, isComplete: false });
  });

  it("may be nothing", async () => {
    await say({ text: "" }, { text: "<think>I can't", style: "response" });
    expect(await all()).toMatchObject({ text: "", pieces: [] });
    expect(await all()).toMatchObject({ text: "", pieces: [] });
  });

  it.each(["chunks", "response", "whole"] as const)(
    "has its tokens estimated, as %s",
    async (style) => {
      await say({ text: "x".repeat(40), style, usage: null });
      const { usage } = await all({
        prompt: { system: "s".repeat(400), content: [{ text: "t".repeat(396) }] },
      });
      expect(usage).toEqual({
        inputTokens: Math.ceil((400 + 396 + "systemuser".length) / 4),
        outputTokens: 10,
      });
    },
  );
});

describe("the model is asked", () => {
  const base = {
    max_tokens: MODELS.answer.maxTokens,
    temperature: 0.2,
    stream: true,
    stream_options: { include_usage: true },
    chat_template_kwargs: { enable_thinking: false },
  };
  const system = { role: "system", content: "Be brief." };

  it("in plain text", async () => {
    await say({ text: "." });
    await all({ prompt: { ...PROMPT, content: [{ text: "Evidence." }, { text: "Who?" }] } });
    const user = { role: "user", content: "Evidence.\n\nWho?" };
    expect(await ai.asked(id)).toEqual([{ ...base, messages: [system, user] }]);
  });

  it("with pictures, at a temperature", async () => {
    await say({ text: "." });
    const jpeg = Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0, 16, 0x4a, 0x46, 0x49, 0x46);
    const content = [{ text: "At 3 s:" }, { jpeg }, { text: "Who?" }];
    await all({ prompt: { ...PROMPT, content, temperature: 1, topP: 0.4 } });
    const url = `data:image/jpeg;base64,${Buffer.from(jpeg).toString("base64")}`;
    const parts = [
      { type: "text", text: "At 3 s:" },
      { type: "image_url", image_url: { url } },
      { type: "text", text: "Who?" },
    ];
    const messages = [system, { role: "user", content: parts }];
    expect(await ai.asked(id)).toEqual([{ ...base, messages, temperature: 1, top_p: 0.4 }]);
  });
});

describe("no answer is", () => {
  it.each<[ErrorCode, "3036" | "3040" | "3007" | "5007"]>([
    ["upstream_unavailable", "3036"],
    ["upstream_unavailable", "3040"],
    ["upstream_timeout", "3007"],
    ["model_missing", "5007"],
  ])("%s where the platform says %s", async (code, fault) => {
    await ai.inject(id, fault);
    expect(await codeOf()).toBe(code);
  });

  it("model_missing where nothing speaks", async () => {
    expect(await codeOf()).toBe("model_missing");
  });

  it("upstream_failed where the stream breaks off", async () => {
    await say(
      { text: TEXT, pieces: 6, breaksOff: true },
      { text: TEXT, pieces: 6, breaksOff: true, style: "response" },
    );
    expect(await codeOf()).toBe("upstream_failed");
    expect(await codeOf()).toBe("upstream_failed");
  });

  it("upstream_failed where an event is none", async () => {
    await say({ text: TEXT, pieces: 6 });
    await ai.inject(id, "malformed");
    expect(await codeOf()).toBe("upstream_failed");
  });

  it.each<[string, unknown]>([
    ["it says something else", sayingOf('{"response":"A"}', '{"error":"no"}', "[DONE]")],
    ["it says nothing", sayingOf()],
    ["it answers something else", { error: "no" }],
    ["it answers nothing", undefined],
  ])("upstream_failed where %s", async (_, answer) => {
    expect(await codeOf({ through: answering(answer) })).toBe("upstream_failed");
  });

  it.each<[string, Reply, Partial<GenerateLimits>]>([
    ["it thinks for long", { text: TEXT, thinks: "Hm", delayMs: 2000 }, { firstTokenMs: 300 }],
    ["it speaks slowly", { text: TEXT, pieces: 20, delayMs: 150 }, { timeoutMs: 400 }],
  ])("upstream_timeout where %s", async (_, reply, limits) => {
    await say(reply);
    expect(await codeOf({ limits })).toBe("upstream_timeout");
    await untilCancelled(1);
  });

  it("upstream_timeout where the model doesn't begin, and what comes late is cancelled", async () => {
    await ai.inject(id, "slow:600");
    await say({ text: TEXT, pieces: 6, delayMs: 100 });
    expect(await codeOf({ limits: { firstTokenMs: 100 } })).toBe("upstream_timeout");
    await untilCancelled(1);
  });
});
