import { z } from "zod";
import { AppError, observe, type Observed } from "../errors.ts";
import { remember } from "../isolate-memory.ts";
import { jsonSchemaPrompt } from "../prompts.ts";
import { ReasoningFilter } from "./reasoning.ts";
import { runModel } from "./run.ts";

/** A chat whose reply is to be a JSON object. */
export interface StructuredChat {
  messages: object[];
  schema: object;
  maxTokens: number;
  temperature: number;
}

export interface StructuredReply {
  /** Id of the model, as reported by it. */
  model: string;
  /** JSON if the model complied; empty if it couldn't. */
  content: string;
}

/**
 * Forms of a request for JSON. Cloudflare's types have OpenAI's wrapper, its page on JSON mode has
 * the bare schema (https://developers.cloudflare.com/workers-ai/features/json-mode/), and some
 * models take neither.
 */
export const FORMS = ["wrapped", "bare", "json_object"] as const;
export type Form = (typeof FORMS)[number];

/** The form that a model accepted last, by model, in this isolate. */
const acceptedForms = remember(new Map<string, Form>());

const content = z.union([z.string(), z.looseObject({}).transform((json) => JSON.stringify(json))]);
const response = z.union([
  z
    .object({
      model: z.string().optional(),
      choices: z.tuple(
        [z.object({ message: z.object({ content: content.nullish() }) })],
        z.unknown(),
      ),
    })
    .transform(({ model, choices: [{ message }] }) => ({ model, content: message.content })),
  z
    .object({ response: content.nullable() })
    .transform((reply) => ({ model: undefined, content: reply.response })),
]);

/**
 * Requests JSON from a chat model. If it rejects one form of the request, sends the next; starts
 * with the form that it accepted last. Throws the errors of `runModel`; `model_request_rejected` if
 * it rejects every form.
 */
export async function runStructuredChat(
  ai: Ai,
  model: string,
  chat: StructuredChat,
  timeoutMs: number,
): Promise<StructuredReply> {
  const accepted = acceptedForms.get(model);
  const forms = accepted ? [accepted, ...FORMS.filter((form) => form !== accepted)] : FORMS;
  let rejection: unknown;
  for (const form of forms) {
    try {
      const reply = await runModel(ai, model, toInput(chat, form), response, timeoutMs);
      acceptedForms.set(model, form);
      return { model: reply.model ?? model, content: withoutReasoning(reply.content ?? "") };
    } catch (error) {
      const code = error instanceof AppError && error.code;
      if (code === "model_output_unreadable") return { model, content: "" };
      if (code !== "model_request_rejected") throw error;
      rejection ??= error;
    }
  }
  throw rejection;
}

/** Requests JSON from a chat model in each form, and returns its replies as they are. */
export function observeForms(
  ai: Ai,
  model: string,
  chat: StructuredChat,
  timeoutMs: number,
): Promise<(Observed<unknown> & { form: Form })[]> {
  return Promise.all(
    FORMS.map(async (form) => {
      const input = toInput(chat, form);
      const observed = await observe(() => runModel(ai, model, input, z.unknown(), timeoutMs));
      return Object.assign(observed, { form });
    }),
  );
}

function toInput(
  { messages, schema, maxTokens, temperature }: StructuredChat,
  form: Form,
): Record<string, unknown> {
  const system = { role: "system", content: jsonSchemaPrompt(schema) };
  return {
    messages: form === "json_object" ? [system, ...messages] : messages,
    response_format: toResponseFormat(schema, form),
    max_tokens: maxTokens,
    temperature,
    chat_template_kwargs: { enable_thinking: false },
  };
}

function toResponseFormat(schema: object, form: Form): object {
  if (form === "json_object") return { type: "json_object" };
  const jsonSchema = form === "wrapped" ? { name: "reply", schema } : schema;
  return { type: "json_schema", json_schema: jsonSchema };
}

function withoutReasoning(text: string): string {
  const filter = new ReasoningFilter();
  return filter.remove(text) + filter.end();
}
