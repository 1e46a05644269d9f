import { describe, expect, it } from "vitest";
import { ChatEvents } from "../../src/models/chat-events.ts";

const NOTHING = { text: "", thought: "", finish: null, usage: null, model: null };
const told = { prompt_tokens: 12, completion_tokens: 3 };
const usage = { inputTokens: 12, outputTokens: 3 };

function read(parts: Uint8Array[]): unknown[] {
  const events = new ChatEvents();
  return [...parts.flatMap((part) => events.feed(part)), ...events.end()];
}

function readText(text: string): unknown[] {
  return read([new TextEncoder().encode(text)]);
}

function delta(content: object, finish_reason: string | null = null): unknown {
  return { choices: [{ index: 0, delta: content, finish_reason }] };
}

describe("an event of a chat model", () => {
  it.each<[string, unknown, unknown]>([
    ["an older model's", { response: "Me", p: "abc" }, { text: "Me" }],
    ["an older model's number", { response: 7 }, { text: "7" }],
    ["an older model's end", { response: "", usage: told }, { usage }],
    ["an older model's end, null", { response: null, usage: told }, { usage }],
    ["a chunk", delta({ role: "assistant", content: "Me" }), { text: "Me" }],
    ["a chunk without text", delta({ role: "assistant", content: null }), {}],
    ["a thought", delta({ reasoning_content: "Hm" }), { thought: "Hm" }],
    ["a thought by its other name", delta({ content: null, reasoning: "Hm" }), { thought: "Hm" }],
    ["the last chunk", delta({}, "stop"), { finish: "stop" }],
    [
      "a chunk that was cut short",
      delta({ content: "M" }, "length"),
      { text: "M", finish: "length" },
    ],
    ["what was used", { model: "gemma", choices: [], usage: told }, { usage, model: "gemma" }],
    ["another count of what was used", { response: "Me", usage: { tokens: 3 } }, { text: "Me" }],
    [
      "a whole completion",
      {
        choices: [{ message: { content: "Me", refusal: null }, finish_reason: "stop" }],
        usage: told,
      },
      { text: "Me", finish: "stop", usage },
    ],
  ])("is %s", (_, given, expected) => {
    expect(readText(`data: ${JSON.stringify(given)}\n\n`)).toEqual([
      { ...NOTHING, ...(expected as object) },
    ]);
  });

  it.each<[string, string]>([
    ["half of one", '{"response":"M'],
    ["no JSON", "Internal Server Error"],
    ["an error", '{"error":{"message":"no"}}'],
    ["a list", "[]"],
    ["null", "null"],
    ["an answer that isn't text", '{"response":{"a":1}}'],
    ["choices that aren't a list", '{"choices":{}}'],
  ])("is malformed where it is %s", (_, data) => {
    expect(readText(`data: ${data}\n\n`)).toEqual(["malformed"]);
  });
});

describe("a stream of a chat model", () => {
  const text =
    'data: {"response":"Ø 犬"}\r\n\r\n: still here\n\ndata: {"response":"🐕."}\n\ndata: [DONE]\n\n';
  const expected = [{ ...NOTHING, text: "Ø 犬" }, { ...NOTHING, text: "🐕." }, "done"];

  it("is the same wherever its bytes are cut", () => {
    const bytes = new TextEncoder().encode(text);
    expect(read([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(expected);
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(read([bytes.slice(0, at), bytes.slice(at)])).toEqual(expected);
    }
  });

  it("may end without its last blank line", () => {
    expect(readText(text.trimEnd())).toEqual(expected);
    expect(readText('data: {"response":"Me')).toEqual(["malformed"]);
    expect(readText("")).toEqual([]);
  });
});
