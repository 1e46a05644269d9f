import { describe, expect, it } from "vitest";
import { parseChunks } from "../../../src/models/generate.ts";

const EMPTY = { text: "", reasoning: "", finishReason: null, usage: null, model: null };
const reportedUsage = { prompt_tokens: 12, completion_tokens: 3 };
const usage = { inputTokens: 12, outputTokens: 3 };

async function parseStream(chunks: Uint8Array[]): Promise<unknown[]> {
  const rest = [...chunks];
  const read = async () => {
    const value = rest.shift();
    return value ? { done: false as const, value } : { done: true as const, value };
  };
  const parsed = [];
  for await (const chunk of parseChunks(read)) parsed.push(chunk);
  return parsed;
}

function parseText(text: string): Promise<unknown[]> {
  return parseStream([new TextEncoder().encode(text)]);
}

function delta(content: object, finish_reason: string | null = null): unknown {
  return { choices: [{ index: 0, delta: content, finish_reason }] };
}

describe("a chat event", () => {
  it.each<[string, unknown, unknown]>([
    ["older model's text", { response: "Me", p: "abc" }, { text: "Me" }],
    ["older model's number", { response: 7 }, { text: "7" }],
    ["older model's usage", { response: "", usage: reportedUsage }, { usage }],
    ["older model's usage without text", { response: null, usage: reportedUsage }, { usage }],
    ["chunk with text", delta({ role: "assistant", content: "Me" }), { text: "Me" }],
    ["chunk without text", delta({ role: "assistant", content: null }), {}],
    ["chunk with `reasoning_content`", delta({ reasoning_content: "Hm" }), { reasoning: "Hm" }],
    ["chunk with `reasoning`", delta({ content: null, reasoning: "Hm" }), { reasoning: "Hm" }],
    ["last chunk", delta({}, "stop"), { finishReason: "stop" }],
    [
      "chunk that was cut off",
      delta({ content: "M" }, "length"),
      { text: "M", finishReason: "length" },
    ],
    [
      "chunk with usage",
      { model: "gemma", choices: [], usage: reportedUsage },
      { usage, model: "gemma" },
    ],
    [
      "chunk with usage in another format",
      { response: "Me", usage: { tokens: 3 } },
      { text: "Me" },
    ],
    [
      "whole completion",
      {
        choices: [{ message: { content: "Me", refusal: null }, finish_reason: "stop" }],
        usage: reportedUsage,
      },
      { text: "Me", finishReason: "stop", usage },
    ],
  ])("is parsed from a %s", async (_, data, expected) => {
    expect(await parseText(`data: ${JSON.stringify(data)}\n\ndata: [DONE]\n\n`)).toEqual([
      { ...EMPTY, ...(expected as object) },
    ]);
  });

  it.each<[string, string]>([
    ["incomplete JSON", '{"response":"M'],
    ["no JSON", "Internal Server Error"],
    ["an error", '{"error":{"message":"no"}}'],
    ["a list", "[]"],
    ["null", "null"],
    ["a response that isn't text", '{"response":[1]}'],
    ["choices that aren't a list", '{"choices":{}}'],
  ])("is refused if its data is %s", async (_, data) => {
    await expect(parseText(`data: ${data}\n\n`)).rejects.toThrow("invalid response");
  });
});

describe("a chat stream", () => {
  const text =
    'data: {"response":"Ø 犬"}\r\n\r\n: still here\n\ndata: {"response":"🐕."}\n\ndata: [DONE]\n\n';
  const expected = [
    { ...EMPTY, text: "Ø 犬" },
    { ...EMPTY, text: "🐕." },
  ];

  it("is parsed the same for any chunks of its bytes", async () => {
    const bytes = new TextEncoder().encode(text);
    expect(await parseStream([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(expected);
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(await parseStream([bytes.slice(0, at), bytes.slice(at)])).toEqual(expected);
    }
  });

  it("is parsed without its last blank line", async () => {
    expect(await parseText(text.trimEnd())).toEqual(expected);
    await expect(parseText('data: {"response":"Me')).rejects.toThrow("invalid response");
    await expect(parseText("")).rejects.toThrow("ended early");
  });
});
