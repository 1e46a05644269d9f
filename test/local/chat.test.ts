import { afterEach, describe, expect, it } from "vitest";
import { chat, type ChatOutput } from "../../local/chat.ts";

const MODEL = "@cf/some/model";
const QUESTION = { messages: [{ role: "user", content: "Who is there?" }] };
const realFetch = globalThis.fetch;

afterEach(() => {
  globalThis.fetch = realFetch;
});

/** The engine as it answers where it has a language model. */
function answering(body: BodyInit, contentType: string): { asked: Promise<unknown> } {
  const asked = Promise.withResolvers<unknown>();
  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    asked.resolve({ path: new URL(request.url).pathname, body: await request.json() });
    return new Response(body, { headers: { "content-type": contentType } });
  };
  return { asked: asked.promise };
}

function ask(inputs: object): Promise<ChatOutput> {
  return chat({ ENGINE_URL: "http://127.0.0.1:1", ENGINE_TOKEN: "t" }, MODEL, inputs);
}

describe("a chat where there is a language model", () => {
  it("is its completion", async () => {
    const completion = { object: "chat.completion", choices: [] };
    const { asked } = answering(JSON.stringify(completion), "application/json");
    expect(await ask(QUESTION)).toEqual(completion);
    expect(await asked).toEqual({ path: "/v1/chat/completions", body: QUESTION });
  });

  it("is the bytes of its events where a stream is asked for", async () => {
    const events = 'data: {"choices":[{"delta":{"content":"Me"}}]}\n\ndata: [DONE]\n\n';
    answering(events, "text/event-stream");
    const output = await ask({ ...QUESTION, stream: true });
    if (!(output instanceof ReadableStream)) throw new Error("not a stream");
    expect(await new Response(output).text()).toBe(events);
  });
});
