import * as z from "zod";
import { MODELS } from "../src/config.ts";
import { aiError, type EngineEnv, requestAi } from "./engine-client.ts";
import { imageBytes } from "./image-bytes.ts";

const Item = z.union([z.strictObject({ text: z.string() }), z.strictObject({ image: z.string() })]);
/** The input of embeddings APIs: production's isn't documented. */
const Inputs = z.strictObject({ input: z.array(Item).min(1) });

const EngineEmbeddings = z.object({ data: z.array(z.object({ embedding: z.array(z.number()) })) });

/** OpenAI's format. */
export interface ImageEmbeddings {
  object: "list";
  model: string;
  data: { object: "embedding"; index: number; embedding: number[] }[];
}

/**
 * Embeds texts and images in the joint space of the engine's model, padded with zeros to
 * production's dimensions. An input of another form fails with 5006.
 */
export async function embedImages(
  env: EngineEnv,
  model: string,
  inputs: unknown,
): Promise<ImageEmbeddings> {
  const parsed = Inputs.safeParse(inputs);
  if (!parsed.success) throw aiError("5006: Error: oneOf at '/' not met");
  for (const item of parsed.data.input) if ("image" in item) imageBytes(item.image);
  const body = JSON.stringify(parsed.data);
  const { data } = EngineEmbeddings.parse(await requestAi(env, model, "/v1/embeddings", body));
  const list = data.map(({ embedding }, index) => {
    const padding = Array.from(
      { length: MODELS.embedImage.dimensions - embedding.length },
      () => 0,
    );
    return { object: "embedding" as const, index, embedding: embedding.concat(padding) };
  });
  return { object: "list", model, data: list };
}
