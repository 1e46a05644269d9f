import { z } from "zod";
import { IMAGE_EMBEDDINGS } from "../config.ts";
import { AppError } from "../errors.ts";

/** A server of joint image and text embeddings, with OpenAI's and Jina's embeddings API. */
export interface ImageEmbeddingsEnv {
  /** Empty without such a server: images are found by their captions only. */
  IMAGE_EMBEDDINGS_URL: string;
  IMAGE_EMBEDDINGS_MODEL: string;
  IMAGE_EMBEDDINGS_KEY?: string;
}

type EmbeddingInput = { text: string } | { image: Uint8Array };

const embeddingsResponse = z.object({
  model: z.string(),
  data: z.array(z.object({ index: z.int(), embedding: z.array(z.number()) })),
});

export interface ImageVectors {
  /** The model's name in the response. */
  model: string;
  /** One vector for each input, in the same order. */
  vectors: number[][];
}

export function hasImageEmbeddings(env: ImageEmbeddingsEnv): boolean {
  return env.IMAGE_EMBEDDINGS_URL !== "";
}

/**
 * Embeds texts and JPEGs. Throws `upstream_timeout`, `upstream_unavailable` (no response, 429,
 * 5xx), `model_request_rejected` (any other status) or `upstream_failed` (an invalid response).
 */
export async function embedInImageSpace(
  env: ImageEmbeddingsEnv,
  inputs: EmbeddingInput[],
): Promise<ImageVectors> {
  const embedded: ImageVectors = { model: "", vectors: [] };
  for (let i = 0; i < inputs.length; i += IMAGE_EMBEDDINGS.batchSize) {
    const { model, vectors } = await embedBatch(
      env,
      inputs.slice(i, i + IMAGE_EMBEDDINGS.batchSize),
    );
    embedded.model = model;
    embedded.vectors.push(...vectors);
  }
  return embedded;
}

async function embedBatch(
  env: ImageEmbeddingsEnv,
  inputs: EmbeddingInput[],
): Promise<ImageVectors> {
  const response = await post(env, {
    ...(env.IMAGE_EMBEDDINGS_MODEL !== "" && { model: env.IMAGE_EMBEDDINGS_MODEL }),
    input: inputs.map((input) =>
      "text" in input ? input : { image: Buffer.from(input.image).toString("base64") },
    ),
  });
  const parsed = embeddingsResponse.safeParse(await response.json().catch(() => null));
  if (parsed.data?.data.length !== inputs.length) {
    throw new AppError(
      "upstream_failed",
      "The image embeddings server returned an invalid response.",
    );
  }
  const { data, model } = parsed.data;
  const inOrder = data.toSorted((a, b) => a.index - b.index);
  return { model, vectors: inOrder.map(({ embedding }) => embedding) };
}

async function post(env: ImageEmbeddingsEnv, body: object): Promise<Response> {
  const key = env.IMAGE_EMBEDDINGS_KEY;
  let response: Response;
  try {
    response = await fetch(env.IMAGE_EMBEDDINGS_URL, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(key && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(IMAGE_EMBEDDINGS.timeoutMs),
    });
  } catch (cause) {
    const isTimeout = cause instanceof Error && cause.name === "TimeoutError";
    const code = isTimeout ? "upstream_timeout" : "upstream_unavailable";
    throw new AppError(code, "The image embeddings server does not respond.", { cause });
  }
  if (response.ok) return response;
  const isTransient = response.status === 429 || response.status >= 500;
  throw new AppError(
    isTransient ? "upstream_unavailable" : "model_request_rejected",
    `The image embeddings server returned status ${response.status}.`,
  );
}
