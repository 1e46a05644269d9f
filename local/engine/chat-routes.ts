import { randomUUID } from "node:crypto";
import { readBody } from "./body.ts";
import type { Capability } from "./capability.ts";
import { type ChatAnswer, type ChatModel, parseChatRequest } from "./chat.ts";
import type { Routes } from "./route.ts";

const MAX_CHAT_BYTES = 64 * 1024 * 1024;

/**
 * Creates `POST /v1/chat/completions`, compatible with OpenAI. `quotes` answers without a language
 * model.
 */
export function createChatRoutes(
  language: Capability<ChatModel>,
  quotes: Capability<ChatModel>,
): Routes {
  const chat = language.status().model === null ? quotes : language;
  return {
    "POST /v1/chat/completions": async (call) => {
      const request = parseChatRequest(await readBody(call.request, MAX_CHAT_BYTES));
      const frame = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1000) };
      if (!request.stream) {
        const answer = await chat.use(
          (model, signal) => model.answer(request, () => {}, signal),
          call.signal,
        );
        return { json: completion(frame, answer) };
      }
      return {
        contentType: "text/event-stream",
        stream: (write) =>
          chat.use(async (model, signal) => {
            const send = (name: string, choice: object, usage?: object) =>
              write(`data: ${JSON.stringify(chunk(frame, name, choice, usage))}\n\n`);
            const onText = (content: string) =>
              send(chat.model, { delta: { content }, finish_reason: null });
            const answer = await model.answer(request, onText, signal);
            // Without a configured model its name is known only from the answer.
            send(answer.model, { delta: {}, finish_reason: answer.finishReason }, usageOf(answer));
            write("data: [DONE]\n\n");
          }, call.signal),
      };
    },
  };
}

interface Frame {
  id: string;
  created: number;
}

function completion(frame: Frame, answer: ChatAnswer) {
  const message = { role: "assistant", content: answer.text, refusal: null };
  const choice = { index: 0, message, finish_reason: answer.finishReason, logprobs: null };
  return {
    ...frame,
    object: "chat.completion",
    model: answer.model,
    choices: [choice],
    usage: usageOf(answer),
  };
}

function chunk(frame: Frame, model: string, choice: object, usage?: object) {
  const choices = [{ index: 0, ...choice }];
  return { ...frame, object: "chat.completion.chunk", model, choices, ...(usage && { usage }) };
}

function usageOf({ promptTokens, completionTokens }: ChatAnswer) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}
