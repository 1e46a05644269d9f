import { afterEach, describe, expect, it } from "vitest";
import { chat, type ChatOutput } from "../../local/chat.ts";

const MODEL = "@cf/some/model";
const QUESTION = { messages: [{ role: "user", content: "Who is there?" }] };
const realFetch = globalThis.fetch;

afterEach(() => {
  globalThis.fetch = realFetch;
});

/** Stubs an engine that has a language model. */
function stubEngine(body: BodyInit, contentType: string): { received: Promise<unknown> } {
  const received = Promise.withResolvers<unknown>();
  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    received.resolve({ path: new URL(request.url).pathname, body: await request.json() });
    return new Response(body, { headers: { "content-type": contentType } });
  };
  return { received: received.promise };
}

function runChat(inputs: object): Promise<ChatOutput> {
  return chat({ ENGINE_URL: "http://127.0.0.1:1", ENGINE_TOKEN: "t" }, MODEL, inputs);
}

describe("a chat with a language model", () => {
  it("returns the completion of the engine", async () => {
    const completion = { object: "chat.completion", choices: [] };
    const { received } = stubEngine(JSON.stringify(completion), "application/json");
    expect(await runChat(QUESTION)).toEqual(completion);
    expect(await received).toEqual({ path: "/v1/chat/completions", body: QUESTION });
  });

  it("returns the engine's events as bytes if a stream is requested", async () => {
    const events = 'data: {"choices":[{"delta":{"content":"Me"}}]}\n\ndata: [DONE]\n\n';
    stubEngine(events, "text/event-stream");
    const output = await runChat({ ...QUESTION, stream: true });
    if (!(output instanceof ReadableStream)) throw new Error("not a stream");
    expect(await new Response(output).text()).toBe(events);
  });
});
