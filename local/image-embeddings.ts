import { z } from "zod";
import { MODELS } from "../src/config.ts";
import { aiError, type EngineEnv, requestAi } from "./engine-client.ts";
import { imageBytes } from "./image-bytes.ts";

const Item = z.union([z.strictObject({ text: z.string() }), z.strictObject({ image: z.string() })]);
const Items = z.array(Item).min(1);
const Part = z.union([
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image_url"), image_url: z.object({ url: z.string() }) }),
]);
const Message = z.object({ role: z.literal("user"), content: z.tuple([Part]) });

/** Schemas of the inputs by form: production's isn't documented. */
const FORMS = {
  input: z.strictObject({ input: Items }).transform(({ input }) => input),
  documents: z.strictObject({ documents: Items }).transform(({ documents }) => documents),
  fields: Item.transform((item) => [item]),
  messages: z.strictObject({ messages: z.tuple([Message]) }).transform(({ messages }) => {
    const [part] = messages[0].content;
    return [part.type === "text" ? { text: part.text } : { image: part.image_url.url }];
  }),
};
export type ImageForm = keyof typeof FORMS;

const EngineEmbeddings = z.object({ data: z.array(z.object({ embedding: z.array(z.number()) })) });

interface OpenAiEmbeddings {
  object: "list";
  model: string;
  data: { object: "embedding"; index: number; embedding: number[] }[];
}
/** OpenAI's format after chat messages and `input`, that of bge-m3 after the other forms. */
export type ImageEmbeddings = OpenAiEmbeddings | { shape: number[]; data: number[][] };

/**
 * Embeds texts and images in the joint space of the engine's model, padded with zeros to
 * production's dimensions. An input of another form than `acceptedForms` fails with 5006.
 */
export async function embedImages(
  env: EngineEnv,
  model: string,
  inputs: unknown,
  acceptedForms: readonly ImageForm[] = ["messages"],
): Promise<ImageEmbeddings> {
  const parsed = acceptedForms.map((form) => ({ form, items: FORMS[form].safeParse(inputs).data }));
  const { form, items } = parsed.find((input) => input.items) ?? {};
  if (!items) throw aiError("5006: Error: oneOf at '/' not met");
  for (const item of items) if ("image" in item) imageBytes(item.image);
  const body = JSON.stringify({ input: items });
  const { data } = EngineEmbeddings.parse(await requestAi(env, model, "/v1/embeddings", body));
  const { maxDimensions } = MODELS.embedImage;
  const vectors = data.map(({ embedding }) =>
    embedding.concat(Array.from({ length: maxDimensions - embedding.length }, () => 0)),
  );
  if (form === "documents" || form === "fields") {
    return { shape: [vectors.length, maxDimensions], data: vectors };
  }
  const list = vectors.map((embedding, index) => {
    return { object: "embedding" as const, index, embedding };
  });
  return { object: "list", model, data: list };
}
