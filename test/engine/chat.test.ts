import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import sharp from "sharp";
import { type Engine, readJson, readRefusal, startEngine } from "./engine-process.ts";

interface Asked {
  authorization: string | undefined;
  model: string;
  stream: boolean;
  messages: { content: string | { type: string; image_url?: { url: string } }[] }[];
}

/** What the server says next, as events or as a refusal. */
let reply: (response: ServerResponse) => void;
let asked: Asked;
let server: Server;
let engine: Engine;

/** An OpenAI-compatible server, as Ollama and llama.cpp answer: events, the usage in the last. */
function say(pieces: string[], finish = "stop", thoughts?: string) {
  return (response: ServerResponse) => {
    const deltas = [{ role: "assistant" }, ...pieces.map((content) => ({ content }))];
    const choices = deltas.map((delta) => ({
      index: 0,
      delta,
      finish_reason: null as string | null,
    }));
    if (thoughts)
      choices[0] = { ...choices[0]!, delta: { ...deltas[0]!, reasoning: thoughts } as never };
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
  asked = { ...JSON.parse(await text(request)), authorization: request.headers.authorization };
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

function ask(more: object = {}): Promise<Response> {
  return engine.post("/v1/chat/completions", JSON.stringify({ ...QUESTION, ...more }));
}

describe("a chat", () => {
  it("is answered by the server's first model, with the key that it wants", async () => {
    reply = say(["A ", "gull."]);
    const answer = await readJson<ChatCompletion>(await ask({ max_tokens: 20 }));
    expect(answer).toMatchObject({
      object: "chat.completion",
      model: "small-llm",
      choices: [{ message: { role: "assistant", content: "A gull." }, finish_reason: "stop" }],
      usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    });
    expect(asked).toMatchObject({
      authorization: "Bearer secret",
      model: "small-llm",
      max_tokens: 20,
    });
  });

  it("is streamed in OpenAI's chunks", async () => {
    reply = say(["A ", "gull."], "length");
    const response = await ask({ stream: true });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const events = (await response.text()).trim().split("\n\n");
    const chunks = events.map((event) => event.replace(/^data: /, ""));
    expect(chunks.pop()).toBe("[DONE]");
    const choices = chunks.map((chunk) => JSON.parse(chunk).choices[0]);
    expect(choices.map(({ delta }) => delta.content).join("")).toBe("A gull.");
    expect(choices.at(-1)).toMatchObject({ finish_reason: "length" });
  });

  it("leaves out what a model thinks aloud", async () => {
    reply = say(["Yes."], "stop", "They want a yes.");
    const answer = await readJson<ChatCompletion>(await ask());
    expect(answer.choices[0]?.message.content).toBe("Yes.");
  });

  it.each<[string, (response: ServerResponse) => void, [number, string]]>([
    ["busy", (r) => r.writeHead(429).end("later"), [502, "upstream_failed"]],
    ["broken", (r) => r.writeHead(500).end("oops"), [502, "upstream_failed"]],
    ["unwilling", (r) => r.writeHead(400).end("no images"), [422, "upstream_refused"]],
    [
      "breaking off",
      (r) => r.end('data: {"choices":[{"delta":{"content":"A"}}]}\n\n'),
      [502, "upstream_failed"],
    ],
    ["speaking in tongues", (r) => r.end("<html>hello</html>"), [502, "upstream_failed"]],
    ["sending what isn't JSON", (r) => r.end("data: hello\n\n"), [502, "upstream_failed"]],
  ])("with a server that is %s is a coded error", async (_, answer, refusal) => {
    reply = answer;
    expect(await readRefusal(await ask())).toEqual(refusal);
  });

  it("that breaks off in a stream ends without its mark", async () => {
    reply = (response) => response.end('data: {"choices":[{"delta":{"content":"A"}}]}\n\n');
    const response = await ask({ stream: true });
    await expect(response.text()).rejects.toThrow();
  });

  it("needs messages", async () => {
    const refused = await readRefusal(await ask({ messages: [] }));
    expect(refused).toEqual([400, "bad_request"]);
  });
});

describe("a description", () => {
  const picture = () =>
    sharp({ create: { width: 900, height: 90, channels: 3, background: "red" } })
      .png()
      .toBuffer();

  it("has the language model's caption, and says whose it is", async () => {
    reply = say(["A red ", "banner. "]);
    const described = await readJson(
      await engine.post("/describe", Uint8Array.from(await picture())),
    );
    expect(described).toMatchObject({ caption: "A red banner.", caption_model: "small-llm" });
    const [part] = [asked.messages[0]?.content].flat().slice(1);
    if (typeof part !== "object") throw new Error("no picture was sent");
    expect(part.image_url?.url).toMatch(/^data:image\/jpeg;base64,/);
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ["is out", (response) => response.writeHead(503).end()],
    ["says nothing", say([])],
  ])("is composed where the language model %s", async (_, answer) => {
    reply = answer;
    const described = await readJson(
      await engine.post("/describe", Uint8Array.from(await picture())),
    );
    expect(described).toMatchObject({ caption_model: "composed" });
  });
});

interface ChatCompletion {
  choices: { message: { content: string } }[];
}
