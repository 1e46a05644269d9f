import { EventSourceParserStream } from "eventsource-parser/stream";
import * as z from "zod";
import type { ChatAnswer, ChatModel } from "./chat.ts";
import { EngineError } from "./errors.ts";

/** An OpenAI-compatible server: Ollama, llama.cpp, vLLM. */
export interface ChatServer {
  /** Base URL with the API version, such as `http://127.0.0.1:11434/v1`. */
  url: string;
  /** Empty selects the first model that the server lists. */
  model: string;
  /** Bearer token; empty sends none. */
  key: string;
}

const Models = z.object({ data: z.array(z.object({ id: z.string() })).min(1) });

const Chunk = z.object({
  choices: z
    .array(
      z.object({
        delta: z.object({ content: z.string().nullish() }).nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .default([]),
  usage: z.object({ prompt_tokens: z.number(), completion_tokens: z.number() }).nullish(),
});

/** Creates a chat model on a server. The server is contacted per call, so it may start later. */
export function createChatServer(server: ChatServer): ChatModel {
  // bounded: a setting of the operator's own
  const base = server.url.replace(/\/+$/, "");
  const headers = {
    "content-type": "application/json",
    ...(server.key && { authorization: `Bearer ${server.key}` }),
  };
  const send: SendRequest = async (path, init) => {
    const response = await fetch(base + path, { ...init, headers }).catch((cause: unknown) => {
      throw new EngineError("upstream_failed", `No server answers at ${base}.`, { cause });
    });
    if (response.ok) return response;
    const isRefusal = response.status < 500 && response.status !== 429;
    const excerpt = (await response.text()).slice(0, 200);
    throw new EngineError(
      isRefusal ? "upstream_refused" : "upstream_failed",
      `${base} answered ${response.status}: ${excerpt}`,
    );
  };
  return {
    async answer(request, onText, signal) {
      const model = server.model || (await firstModel(send, signal));
      const body = { ...request, model, stream: true, stream_options: { include_usage: true } };
      const init = { method: "POST", body: JSON.stringify(body), signal };
      const response = await send("/chat/completions", init);
      try {
        return await readStream(model, response, onText);
      } catch (cause) {
        signal.throwIfAborted();
        const message = `${base} ended the stream early or doesn't follow OpenAI's protocol.`;
        throw new EngineError("upstream_failed", message, { cause });
      }
    },
  };
}

type SendRequest = (path: string, init: RequestInit) => Promise<Response>;

async function firstModel(send: SendRequest, signal: AbortSignal): Promise<string> {
  const listed = Models.safeParse(await (await send("/models", { signal })).json());
  const [first] = listed.data?.data ?? [];
  if (!first) throw new EngineError("upstream_failed", "The server lists no model.");
  return first.id;
}

/** Reads a stream of chunks and passes on the text deltas. Reasoning deltas are ignored. */
async function readStream(
  model: string,
  response: Response,
  onText: (delta: string) => void,
): Promise<ChatAnswer> {
  const answer: ChatAnswer = {
    model,
    text: "",
    promptTokens: 0,
    completionTokens: 0,
    finishReason: "stop",
  };
  if (!response.body) throw new TypeError("an empty answer");
  const events = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  let hasFinished = false;
  for await (const { data } of events) {
    if (data === "[DONE]") break;
    const chunk = Chunk.parse(JSON.parse(data));
    const [choice] = chunk.choices;
    const delta = choice?.delta?.content ?? "";
    answer.text += delta;
    if (delta) onText(delta);
    if (choice?.finish_reason) hasFinished = true;
    if (choice?.finish_reason === "length") answer.finishReason = "length";
    answer.promptTokens = chunk.usage?.prompt_tokens ?? answer.promptTokens;
    answer.completionTokens = chunk.usage?.completion_tokens ?? answer.completionTokens;
  }
  if (!hasFinished) throw new TypeError("an answer without its end");
  return answer;
}
