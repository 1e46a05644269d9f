import { z } from "zod";
import { IMAGE_EMBEDDINGS, MODELS } from "../config.ts";
import { AppError, observe, type Observed } from "../errors.ts";
import { remember } from "../isolate-memory.ts";
import { dataUri } from "./data-uri.ts";
import { invalidResponseError, isOversize, runModel } from "./run.ts";

export type EmbeddingInput = { text: string } | { image: Uint8Array };

const { id: candidate, maxDimensions } = MODELS.embedImage;
const { timeoutMs } = IMAGE_EMBEDDINGS;

/**
 * Forms of a joint image and text model's input. Cloudflare documents none. These are the ones of
 * embeddings APIs (OpenAI, Jina), of chats, and of its models `qwen3-embedding-0.6b` and `bge-m3`.
 */
export const EMBEDDING_FORMS = ["input", "messages", "documents", "fields"] as const;
type EmbeddingForm = (typeof EMBEDDING_FORMS)[number];

/** The form that a model accepted last for texts or for images, in this isolate. */
const acceptedForms = remember(new Map<string, EmbeddingForm>());

const vector = z.array(z.number()).min(1);
const response = z.union([
  z.object({ data: z.array(vector).min(1) }).transform(({ data }) => data),
  z
    .object({ data: z.array(z.object({ index: z.int().default(0), embedding: vector })).min(1) })
    .transform(({ data }) => data.toSorted((a, b) => a.index - b.index))
    .transform((data) => data.map(({ embedding }) => embedding)),
  z.object({ embeddings: z.array(vector).min(1) }).transform(({ embeddings }) => embeddings),
  z.object({ embedding: vector }).transform(({ embedding }) => [embedding]),
]);

/**
 * Embeds texts or JPEGs by a model of Workers AI. If it rejects one form of the input, or answers
 * without vectors, sends the next; starts with the form that it accepted last. Throws the errors of
 * `runModel`; that of the first form if it accepts none.
 */
export async function embedInForms(
  ai: Ai,
  model: string,
  inputs: readonly EmbeddingInput[],
): Promise<number[][]> {
  const key = `${model} ${inputs.some((input) => "image" in input) ? "image" : "text"}`;
  const accepted = acceptedForms.get(key);
  const others = EMBEDDING_FORMS.filter((form) => form !== accepted);
  const retried = new Set(["model_request_rejected", ...(accepted ? [] : ["upstream_failed"])]);
  let refusal: unknown;
  for (const form of [...(accepted ? [accepted] : []), ...others]) {
    try {
      const vectors = await embedInForm(ai, model, inputs, form);
      acceptedForms.set(key, form);
      return vectors.map(toUnit);
    } catch (error) {
      const isRetried = error instanceof AppError && retried.has(error.code);
      if (!isRetried || isOversize(error)) throw error;
      refusal ??= error;
    }
  }
  throw refusal;
}

async function embedInForm(
  ai: Ai,
  model: string,
  inputs: readonly EmbeddingInput[],
  form: EmbeddingForm,
): Promise<number[][]> {
  const vectors: number[][] = [];
  for (const call of toCalls(inputs, form)) {
    vectors.push(...(await runModel(ai, model, call, response, timeoutMs)));
  }
  if (vectors.length !== inputs.length) throw invalidResponseError(model);
  return vectors;
}

/** Returns the inputs of the calls that embed a batch. */
function toCalls(
  inputs: readonly EmbeddingInput[],
  form: EmbeddingForm,
): Record<string, unknown>[] {
  const items = inputs.map((input) => ("text" in input ? input : { image: dataUri(input.image) }));
  if (form === "input") return [{ input: items }];
  if (form === "documents") return [{ documents: items }];
  if (form === "fields") return items;
  return items.map((item) => {
    const part =
      "text" in item
        ? { type: "text", text: item.text }
        : { type: "image_url", image_url: { url: item.image } };
    return { messages: [{ role: "user", content: [part] }] };
  });
}

/**
 * Makes a unit vector. Cuts off what a Vectorize index doesn't take: the model is trained so that a
 * vector's beginning is an embedding, too.
 */
function toUnit(values: number[]): number[] {
  const kept = values.slice(0, maxDimensions);
  const length = Math.hypot(...kept) || 1;
  return kept.map((value) => value / length);
}

/** How a model answered a form of the input: an outline of its output, and the vector's length. */
export interface FormObservation extends Observed<{ dimensions: number | null; outline: unknown }> {
  form: EmbeddingForm;
  input: "text" | "image";
}

/** Sends a text and a JPEG in each form to the model that Cloudflare lists for AI Search. */
export function observeEmbeddingForms(ai: Ai, jpeg: Uint8Array): Promise<FormObservation[]> {
  const inputs = [{ text: "a picture" }, { image: jpeg }];
  const observations = EMBEDDING_FORMS.flatMap((form) =>
    inputs.map(async (input) => {
      const [call = {}] = toCalls([input], form);
      const observed = await observe(async () => {
        const output = await runModel(ai, candidate, call, z.unknown(), timeoutMs);
        const [values] = response.safeParse(output).data ?? [];
        return { dimensions: values?.length ?? null, outline: outlineOf(output) };
      });
      const kind = "text" in input ? ("text" as const) : ("image" as const);
      return Object.assign(observed, { form, input: kind });
    }),
  );
  return Promise.all(observations);
}

/** Replaces values by their types, and lists by their length and first item. */
function outlineOf(value: unknown): unknown {
  if (Array.isArray(value)) return { length: value.length, item: outlineOf(value[0]) };
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, outlineOf(item)]));
}
