import { z } from "zod";
import { PICTURE_SPACE } from "../config.ts";
import { AppError } from "../errors.ts";

/** A server that puts pictures and texts into one space, by OpenAI's and Jina's embeddings shape. */
export interface PictureSpaceEnv {
  /** Empty: there is none, and pictures are found by their captions only. */
  PICTURE_EMBEDDINGS_URL: string;
  PICTURE_EMBEDDINGS_MODEL: string;
  PICTURE_EMBEDDINGS_KEY?: string;
}

type Item = { text: string } | { image: Uint8Array };

const answer = z.object({
  model: z.string(),
  data: z.array(z.object({ index: z.int(), embedding: z.array(z.number()) })),
});

export interface PictureVectors {
  /** As the server names it. */
  model: string;
  /** In the order of the items. */
  vectors: number[][];
}

export function hasPictureSpace(env: PictureSpaceEnv): boolean {
  return env.PICTURE_EMBEDDINGS_URL !== "";
}

/**
 * Vectors of texts and JPEGs. Throws `upstream_timeout`, `upstream_unavailable` (no answer, 429,
 * 5xx), `model_refused` (any other status) or `upstream_failed` (an unknown shape).
 */
export async function embedInPictureSpace(
  env: PictureSpaceEnv,
  items: Item[],
): Promise<PictureVectors> {
  const embedded: PictureVectors = { model: "", vectors: [] };
  for (let i = 0; i < items.length; i += PICTURE_SPACE.batch) {
    const { model, vectors } = await embedBatch(env, items.slice(i, i + PICTURE_SPACE.batch));
    embedded.model = model;
    embedded.vectors.push(...vectors);
  }
  return embedded;
}

async function embedBatch(env: PictureSpaceEnv, items: Item[]): Promise<PictureVectors> {
  const response = await post(env, {
    ...(env.PICTURE_EMBEDDINGS_MODEL !== "" && { model: env.PICTURE_EMBEDDINGS_MODEL }),
    input: items.map((item) =>
      "text" in item ? item : { image: Buffer.from(item.image).toString("base64") },
    ),
  });
  const parsed = answer.safeParse(await response.json().catch(() => null));
  if (parsed.data?.data.length !== items.length) {
    throw new AppError("upstream_failed", "The picture embedder answered in an unknown shape.");
  }
  const { data, model } = parsed.data;
  const inOrder = data.toSorted((a, b) => a.index - b.index);
  return { model, vectors: inOrder.map(({ embedding }) => embedding) };
}

async function post(env: PictureSpaceEnv, body: object): Promise<Response> {
  const key = env.PICTURE_EMBEDDINGS_KEY;
  let response: Response;
  try {
    response = await fetch(env.PICTURE_EMBEDDINGS_URL, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(key && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(PICTURE_SPACE.timeoutMs),
    });
  } catch (cause) {
    const isLate = cause instanceof Error && cause.name === "TimeoutError";
    const code = isLate ? "upstream_timeout" : "upstream_unavailable";
    throw new AppError(code, "The picture embedder does not answer.", { cause });
  }
  if (response.ok) return response;
  const passing = response.status === 429 || response.status >= 500;
  throw new AppError(
    passing ? "upstream_unavailable" : "model_refused",
    `The picture embedder answered ${response.status}.`,
  );
}
