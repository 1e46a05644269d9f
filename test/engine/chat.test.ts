import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Engine, readJson, readError, startEngine } from "./engine-process.ts";

interface ReceivedRequest {
  authorization: string | undefined;
  model: string;
  stream: boolean;
  messages: { content: string | { type: string; image_url?: { url: string } }[] }[];
}

/** Writes the server's next response: events or an error. */
let reply: (response: ServerResponse) => void;
let received: ReceivedRequest;
let server: Server;
let engine: Engine;

/** Returns a handler that responds like Ollama and llama.cpp: events, usage in the last one. */
function respondWith(deltaTexts: string[], finish = "stop", reasoning?: string) {
  return (response: ServerResponse) => {
    const deltas = [{ role: "assistant" }, ...deltaTexts.map((content) => ({ content }))];
    const choices = deltas.map((delta) => ({
      index: 0,
      delta,
      finish_reason: null as string | null,
    }));
    if (reasoning) choices[0] = { ...choices[0]!, delta: { ...deltas[0]!, reasoning } as never };
    choices.push({ index: 0, delta: {} as never, finish_reason: finish });
    for (const choice of choices)
      response.write(`data: ${JSON.stringify({ choices: [choice] })}\n\n`);
    const usage = { prompt_tokens: 7, completion_tokens: 3 };
    response.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`);
  };
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === "/v1/models") {
    response.end(JSON.stringify({ object: "list", data: [{ id: "small-llm" }] }));
    return;
  }
  received = { ...JSON.parse(await text(request)), authorization: request.headers.authorization };
  reply(response);
}

beforeAll(async () => {
  server = createServer((request, response) => void serve(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  const url = `http://127.0.0.1:${port}/v1/`;
  engine = await startEngine({ LOCAL_LLM_URL: url, LOCAL_LLM_KEY: "secret" });
});
afterAll(async () => {
  await engine.stop();
  server.close();
});

const QUESTION = { messages: [{ role: "user", content: "Who is there?" }] };

function complete(overrides: object = {}): Promise<Response> {
  return engine.post("/v1/chat/completions", JSON.stringify({ ...QUESTION, ...overrides }));
}

describe("a chat completion", () => {
  it("comes from the server's first model and sends the configured key", async () => {
    reply = respondWith(["A ", "gull."]);
    const answer = await readJson<ChatCompletion>(await complete({ max_tokens: 20 }));
    expect(answer).toMatchObject({
      object: "chat.completion",
      model: "small-llm",
      choices: [{ message: { role: "assistant", content: "A gull." }, finish_reason: "stop" }],
      usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    });
    expect(received).toMatchObject({
      authorization: "Bearer secret",
      model: "small-llm",
      max_tokens: 20,
    });
  });

  it("is streamed as OpenAI's chunks", async () => {
    reply = respondWith(["A ", "gull."], "length");
    const response = await complete({ stream: true });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const events = (await response.text()).trim().split("\n\n");
    const chunks = events.map((event) => event.replace(/^data: /, ""));
    expect(chunks.pop()).toBe("[DONE]");
    const choices = chunks.map((chunk) => JSON.parse(chunk).choices[0]);
    expect(choices.map(({ delta }) => delta.content).join("")).toBe("A gull.");
    expect(choices.at(-1)).toMatchObject({ finish_reason: "length" });
  });

  it("leaves out the reasoning of a model", async () => {
    reply = respondWith(["Yes."], "stop", "They want a yes.");
    const answer = await readJson<ChatCompletion>(await complete());
    expect(answer.choices[0]?.message.content).toBe("Yes.");
  });

  it.each<[string, (response: ServerResponse) => void, [number, string]]>([
    ["is busy", (r) => r.writeHead(429).end("later"), [502, "upstream_failed"]],
    ["fails", (r) => r.writeHead(500).end("oops"), [502, "upstream_failed"]],
    ["rejects the request", (r) => r.writeHead(400).end("no images"), [422, "upstream_refused"]],
    [
      "ends the stream early",
      (r) => r.end('data: {"choices":[{"delta":{"content":"A"}}]}\n\n'),
      [502, "upstream_failed"],
    ],
    ["responds in HTML", (r) => r.end("<html>hello</html>"), [502, "upstream_failed"]],
    ["sends events without JSON", (r) => r.end("data: hello\n\n"), [502, "upstream_failed"]],
  ])("fails with an error code if the server %s", async (_, handler, expected) => {
    reply = handler;
    expect(await readError(await complete())).toEqual(expected);
  });

  it("fails in the middle of a stream if the server breaks off", async () => {
    reply = (response) => response.end('data: {"choices":[{"delta":{"content":"A"}}]}\n\n');
    const response = await complete({ stream: true });
    await expect(response.text()).rejects.toThrow();
  });

  it("without messages is rejected as bad_request", async () => {
    const error = await readError(await complete({ messages: [] }));
    expect(error).toEqual([400, "bad_request"]);
  });
});

describe("an image description", () => {
  const makeImage = () =>
    sharp({ create: { width: 900, height: 90, channels: 3, background: "red" } })
      .png()
      .toBuffer();

  it("has the caption of the language model and its name", async () => {
    reply = respondWith(["A red ", "banner. "]);
    const described = await readJson(
      await engine.post("/describe", Uint8Array.from(await makeImage())),
    );
    expect(described).toMatchObject({ caption: "A red banner.", caption_model: "small-llm" });
    const [part] = [received.messages[0]?.content].flat().slice(1);
    if (typeof part !== "object") throw new Error("no image was sent");
    expect(part.image_url?.url).toMatch(/^data:image\/jpeg;base64,/);
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ["is unavailable", (response) => response.writeHead(503).end()],
    ["returns no text", respondWith([])],
  ])("uses the template caption if the language model %s", async (_, handler) => {
    reply = handler;
    const described = await readJson(
      await engine.post("/describe", Uint8Array.from(await makeImage())),
    );
    expect(described).toMatchObject({ caption_model: "template" });
  });
});

interface ChatCompletion {
  choices: { message: { content: string } }[];
}
