import { z } from "zod";
import { MODELS } from "../config.ts";
import { DESCRIBE_IMAGE } from "../prompts.ts";
import type { BoundingBox, Description } from "../types.ts";
import { dataUri } from "./data-uri.ts";
import { runModel } from "./run.ts";

/** `captionModel` of a template caption: detected labels in a sentence, written by no model. */
export const TEMPLATE = "template";

const { id, maxTokens, timeoutMs } = MODELS.describe;

const description = z.object({
  caption: z.string(),
  text: z.string(),
  labels: z.array(z.string()),
  objects: z.array(
    z.object({
      label: z.string(),
      score: z.number().min(0).max(1),
      box_2d: z.array(z.number()).length(4),
    }),
  ),
});

const response = z.object({
  model: z.string().default(id),
  choices: z.tuple([z.object({ message: z.object({ content: z.string() }) })], z.unknown()),
});

const JSON_SCHEMA = { name: "picture", schema: z.toJSONSchema(description) };

/** Describes a JPEG in one structured model call: caption, on-screen text, labels and boxes. */
export async function describeImage(ai: Ai, jpeg: Uint8Array): Promise<Description> {
  const input = {
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: DESCRIBE_IMAGE },
          { type: "image_url", image_url: { url: dataUri(jpeg) } },
        ],
      },
    ],
    response_format: { type: "json_schema", json_schema: JSON_SCHEMA },
    max_tokens: maxTokens,
    temperature: 0,
    chat_template_kwargs: { enable_thinking: false },
  };
  const parsed = response
    .transform(({ model, choices }) => ({ model, image: JSON.parse(choices[0].message.content) }))
    .pipe(z.object({ model: z.string(), image: description }));
  const { model, image } = await runModel(ai, id, input, parsed, timeoutMs);
  return {
    model,
    caption: image.caption.trim(),
    text: image.text.trim(),
    labels: [...new Set(image.labels.map((label) => label.trim()).filter(Boolean))],
    boxes: image.objects.map(toBox),
  };
}

function toBox({
  label,
  score,
  box_2d,
}: z.infer<typeof description>["objects"][number]): BoundingBox {
  const [yMin, xMin, yMax, xMax] = box_2d.map((v) => Math.min(Math.max(v / 1000, 0), 1));
  return { label, score, x: xMin!, y: yMin!, width: xMax! - xMin!, height: yMax! - yMin! };
}
