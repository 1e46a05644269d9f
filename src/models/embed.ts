import * as z from "zod";
import { IMAGE_EMBEDDINGS, MODELS } from "../config.ts";
import { AppError, traceOf } from "../errors.ts";
import { treatAsInvalid } from "../ignored-errors.ts";
import { log } from "../log.ts";
import { callInBatches, dataUri, invalidResponseError, runModel } from "./run.ts";

export type EmbeddingInput = { text: string } | { image: Uint8Array };

/**
 * A joint image and text model: on a server with OpenAI's and Jina's embeddings API or, without its
 * URL, of Workers AI. Without either, images are found by their captions only.
 */
export interface ImageEmbeddingsEnv {
  AI: Ai;
  IMAGE_EMBEDDINGS_URL: string;
  IMAGE_EMBEDDINGS_MODEL: string;
  IMAGE_EMBEDDINGS_KEY?: string;
}

export interface ImageVectors {
  /** The model's name in a server's response, or its id. */
  model: string;
  /** One vector for each input, in the same order. */
  vectors: number[][];
}

export function hasImageEmbeddings(env: Omit<ImageEmbeddingsEnv, "AI">): boolean {
  return env.IMAGE_EMBEDDINGS_URL !== "" || env.IMAGE_EMBEDDINGS_MODEL.startsWith("@cf/");
}

/** A vector. Each search checks a thousand numbers: a schema for each takes long. */
const vector = z.custom<number[]>(
  (value) => Array.isArray(value) && value.length > 0 && value.every(Number.isFinite),
);

const embeddings = z.object({
  model: z.string().optional(),
  data: z.array(z.object({ index: z.int(), embedding: vector })),
});

/** Embeds texts and JPEGs. Throws the errors of `runModel` or `requestEmbeddings`. */
export async function embedInImageSpace(
  env: ImageEmbeddingsEnv,
  inputs: readonly EmbeddingInput[],
): Promise<ImageVectors> {
  let { IMAGE_EMBEDDINGS_URL: url, IMAGE_EMBEDDINGS_MODEL: model } = env;
  const vectors = await callInBatches(inputs, IMAGE_EMBEDDINGS.batchSize, async (batch) => {
    const input = batch.map((item) => ("text" in item ? item : { image: dataUri(item.image) }));
    const reply = await (url === ""
      ? runModel(env.AI, model, { input }, embeddings, IMAGE_EMBEDDINGS.timeoutMs)
      : requestEmbeddings(env, batch));
    if (reply.data.length !== batch.length) throw invalidResponseError(model);
    model = reply.model ?? model;
    const inOrder = reply.data.toSorted((a, b) => a.index - b.index);
    return inOrder.map(({ embedding }) => embedding);
  });
  return { model, vectors };
}

/**
 * The image model that answers at present; `none` if the deployment has none, `unavailable` if it
 * doesn't answer.
 */
export type ImageModel = { model: string } | "none" | "unavailable";

/** Embeds a text to learn the model's name, which only a response tells. Never throws. */
export async function probeImageModel(env: Env): Promise<ImageModel> {
  if (!hasImageEmbeddings(env)) return "none";
  try {
    const { model } = await embedInImageSpace(env, [{ text: "a picture" }]);
    return { model };
  } catch (error) {
    log("warn", "lifecycle.image_model_unavailable", { cause: traceOf(error) });
    return "unavailable";
  }
}

/**
 * Embeds a batch on the server. Throws `upstream_timeout`, `upstream_unavailable` (no response,
 * 429, 5xx), `model_request_rejected` (any other status) or `upstream_failed` (an invalid
 * response).
 */
async function requestEmbeddings(
  {
    IMAGE_EMBEDDINGS_URL: url,
    IMAGE_EMBEDDINGS_MODEL: model,
    IMAGE_EMBEDDINGS_KEY: key,
  }: Omit<ImageEmbeddingsEnv, "AI">,
  inputs: readonly EmbeddingInput[],
): Promise<z.output<typeof embeddings>> {
  const input = inputs.map((item) =>
    "text" in item ? item : { image: Buffer.from(item.image).toString("base64") },
  );
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(key && { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify({ ...(model !== "" && { model }), input }),
    signal: AbortSignal.timeout(IMAGE_EMBEDDINGS.timeoutMs),
  }).catch((cause: unknown) => {
    const isTimeout = cause instanceof Error && cause.name === "TimeoutError";
    const code = isTimeout ? "upstream_timeout" : "upstream_unavailable";
    throw new AppError(code, "The image embeddings server does not respond.", { cause });
  });
  if (!response.ok) {
    const isTransient = response.status === 429 || response.status >= 500;
    throw new AppError(
      isTransient ? "upstream_unavailable" : "model_request_rejected",
      `The image embeddings server returned status ${response.status}.`,
    );
  }
  const parsed = embeddings.safeParse(await response.json().catch(treatAsInvalid));
  if (parsed.success) return parsed.data;
  throw invalidResponseError(model, parsed.error);
}

const { id, dimensions, batchSize, maxCharacters, timeoutMs } = MODELS.embedText;

const response = z.object({
  data: z.array(vector.refine(({ length }) => length === dimensions)),
});

/**
 * Embeds texts: one vector each, with `MODELS.embedText.dimensions` values. Equal texts are sent
 * once. The model takes 60,000 tokens in a batch, and truncates each text at a number that its
 * pages disagree about.
 */
export async function embedText(ai: Ai, texts: string[]): Promise<number[][]> {
  const distinct = [...new Set(texts)];
  const vectors = await callInBatches(distinct, batchSize, async (batch) => {
    const text = batch.map((input) => input.slice(0, maxCharacters));
    const batchResponse = response.refine(({ data }) => data.length === text.length);
    const input = { text, truncate_inputs: true };
    return (await runModel(ai, id, input, batchResponse, timeoutMs)).data;
  });
  const vectorOf = new Map(distinct.map((text, i) => [text, vectors[i]!]));
  return texts.map((text) => vectorOf.get(text)!);
}
