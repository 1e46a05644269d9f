import { EventSourceParserStream } from "eventsource-parser/stream";
import { z } from "zod";
import type { ChatAnswer, ChatModel } from "./chat.ts";
import { EngineError } from "./errors.ts";

/** Where an OpenAI-compatible server is: Ollama, llama.cpp, vLLM. */
export interface ChatServer {
  /** With its version, such as `http://127.0.0.1:11434/v1`. */
  url: string;
  /** Empty: the first that the server lists. */
  model: string;
  /** Empty where it wants none. */
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

/** The server need not run yet: each call asks it anew. */
export function createChatServer(server: ChatServer): ChatModel {
  const base = server.url.replace(/\/+$/, "");
  const headers = {
    "content-type": "application/json",
    ...(server.key && { authorization: `Bearer ${server.key}` }),
  };
  const ask: Ask = async (path, init) => {
    const response = await fetch(base + path, { ...init, headers }).catch((cause: unknown) => {
      throw new EngineError("upstream_failed", `Nothing answers at ${base}.`, { cause });
    });
    if (response.ok) return response;
    const refused = response.status < 500 && response.status !== 429;
    const said = (await response.text()).slice(0, 200);
    throw new EngineError(
      refused ? "upstream_refused" : "upstream_failed",
      `${base} answered ${response.status}: ${said}`,
    );
  };
  return {
    async answer(request, onText, signal) {
      const model = server.model || (await firstModel(ask, signal));
      const body = { ...request, model, stream: true, stream_options: { include_usage: true } };
      const init = { method: "POST", body: JSON.stringify(body), signal };
      const response = await ask("/chat/completions", init);
      try {
        return await readStream(model, response, onText);
      } catch (cause) {
        signal.throwIfAborted();
        const message = `${base} broke off, or speaks another protocol than OpenAI's.`;
        throw new EngineError("upstream_failed", message, { cause });
      }
    },
  };
}

type Ask = (path: string, init: RequestInit) => Promise<Response>;

async function firstModel(ask: Ask, signal: AbortSignal): Promise<string> {
  const listed = Models.safeParse(await (await ask("/models", { signal })).json());
  const [first] = listed.data?.data ?? [];
  if (!first) throw new EngineError("upstream_failed", "The server lists no model.");
  return first.id;
}

/** Text deltas only: what a reasoning model thinks aloud stays where it is. */
async function readStream(
  model: string,
  response: Response,
  onText: (piece: string) => void,
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
  let ended = false;
  for await (const { data } of events) {
    if (data === "[DONE]") break;
    const chunk = Chunk.parse(JSON.parse(data));
    const [choice] = chunk.choices;
    const piece = choice?.delta?.content ?? "";
    answer.text += piece;
    if (piece) onText(piece);
    if (choice?.finish_reason) ended = true;
    if (choice?.finish_reason === "length") answer.finishReason = "length";
    answer.promptTokens = chunk.usage?.prompt_tokens ?? answer.promptTokens;
    answer.completionTokens = chunk.usage?.completion_tokens ?? answer.completionTokens;
  }
  if (!ended) throw new TypeError("an answer without its end");
  return answer;
}
