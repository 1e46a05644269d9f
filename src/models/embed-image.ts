import { IMAGE_EMBEDDINGS } from "../config.ts";
import { callInBatches } from "./batches.ts";
import { embedInForms, type EmbeddingInput } from "./embedding-forms.ts";
import { type EmbeddingServerEnv, requestEmbeddings } from "./embedding-server.ts";

/**
 * A joint image and text model: on a server or, without its URL, of Workers AI. Without either,
 * images are found by their captions only.
 */
export interface ImageEmbeddingsEnv extends EmbeddingServerEnv {
  AI: Ai;
}

export interface ImageVectors {
  /** The model's name in a server's response, or its id. */
  model: string;
  /** One vector for each input, in the same order. */
  vectors: number[][];
}

export function hasImageEmbeddings(env: EmbeddingServerEnv): boolean {
  return env.IMAGE_EMBEDDINGS_URL !== "" || env.IMAGE_EMBEDDINGS_MODEL.startsWith("@cf/");
}

/** Embeds texts and JPEGs. Throws the errors of `requestEmbeddings` or `embedInForms`. */
export async function embedInImageSpace(
  env: ImageEmbeddingsEnv,
  inputs: EmbeddingInput[],
): Promise<ImageVectors> {
  let model = env.IMAGE_EMBEDDINGS_MODEL;
  const vectors = await callInBatches(inputs, IMAGE_EMBEDDINGS.batchSize, async (batch) => {
    if (env.IMAGE_EMBEDDINGS_URL === "") return embedInForms(env.AI, model, batch);
    const embedded = await requestEmbeddings(env, batch);
    ({ model } = embedded);
    return embedded.vectors;
  });
  return { model, vectors };
}
