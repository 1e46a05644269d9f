import { z } from "zod";
import { IMAGE_EMBEDDINGS } from "../config.ts";
import { AppError } from "../errors.ts";
import type { EmbeddingInput } from "./embedding-forms.ts";

/** A server of joint image and text embeddings, with OpenAI's and Jina's embeddings API. */
export interface EmbeddingServerEnv {
  IMAGE_EMBEDDINGS_URL: string;
  IMAGE_EMBEDDINGS_MODEL: string;
  IMAGE_EMBEDDINGS_KEY?: string;
}

const embeddingsResponse = z.object({
  model: z.string(),
  data: z.array(z.object({ index: z.int(), embedding: z.array(z.number()) })),
});

/**
 * Embeds a batch. Throws `upstream_timeout`, `upstream_unavailable` (no response, 429, 5xx),
 * `model_request_rejected` (any other status) or `upstream_failed` (an invalid response).
 */
export async function requestEmbeddings(
  env: EmbeddingServerEnv,
  inputs: readonly EmbeddingInput[],
): Promise<{ model: string; vectors: number[][] }> {
  const response = await post(env, {
    ...(env.IMAGE_EMBEDDINGS_MODEL !== "" && { model: env.IMAGE_EMBEDDINGS_MODEL }),
    input: inputs.map((input) =>
      "text" in input ? input : { image: Buffer.from(input.image).toString("base64") },
    ),
  });
  const parsed = embeddingsResponse.safeParse(await response.json().catch(nullIfUnreadable));
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

async function post(env: EmbeddingServerEnv, body: object): Promise<Response> {
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

/** Makes null of a body that breaks off or isn't JSON, which is then refused as invalid. */
function nullIfUnreadable(): null {
  return null;
}
