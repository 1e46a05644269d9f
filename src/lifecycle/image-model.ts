import { traceOf } from "../errors.ts";
import { log } from "../log.ts";
import { embedInImageSpace, hasImageEmbeddings } from "../models/embed-image.ts";

/**
 * The image model that answers at present, with a vector of it; `none` if the deployment has none,
 * `unavailable` if it doesn't answer.
 */
export type ImageModel = { model: string; values: number[] } | "none" | "unavailable";

/** Embeds a text to learn the model's name, which only a response tells. Never throws. */
export async function probeImageModel(env: Env): Promise<ImageModel> {
  if (!hasImageEmbeddings(env)) return "none";
  try {
    const { model, vectors } = await embedInImageSpace(env, [{ text: "a picture" }]);
    return { model, values: vectors[0]! };
  } catch (error) {
    log("warn", "lifecycle.image_model_unavailable", { cause: traceOf(error) });
    return "unavailable";
  }
}
