import { z } from "zod";
import { MODELS } from "../config.ts";
import { DESCRIBE_PICTURE } from "../prompts.ts";
import type { Box, Description } from "../types.ts";
import { dataUri } from "./data-uri.ts";
import { runModel } from "./run.ts";

/** What stands for the model of a caption that nobody wrote: it lists what was detected. */
export const COMPOSED = "composed";

const { id, maxTokens, timeoutMs } = MODELS.describe;

const seen = z.object({
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

const answer = z.object({
  model: z.string().default(id),
  choices: z.tuple([z.object({ message: z.object({ content: z.string() }) })], z.unknown()),
});

const JSON_SCHEMA = { name: "picture", schema: z.toJSONSchema(seen) };

/** What a vision model sees in a JPEG: one structured call for caption, words, labels and boxes. */
export async function describePicture(ai: Ai, jpeg: Uint8Array): Promise<Description> {
  const input = {
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: DESCRIBE_PICTURE },
          { type: "image_url", image_url: { url: dataUri(jpeg) } },
        ],
      },
    ],
    response_format: { type: "json_schema", json_schema: JSON_SCHEMA },
    max_tokens: maxTokens,
    temperature: 0,
    chat_template_kwargs: { enable_thinking: false },
  };
  const parsed = answer
    .transform(({ model, choices }) => ({ model, picture: JSON.parse(choices[0].message.content) }))
    .pipe(z.object({ model: z.string(), picture: seen }));
  const { model, picture } = await runModel(ai, id, input, parsed, timeoutMs);
  return {
    model,
    caption: picture.caption.trim(),
    text: picture.text.trim(),
    labels: [...new Set(picture.labels.map((label) => label.trim()).filter(Boolean))],
    boxes: picture.objects.map(toBox),
  };
}

function toBox({ label, score, box_2d }: z.infer<typeof seen>["objects"][number]): Box {
  const [yMin, xMin, yMax, xMax] = box_2d.map((v) => Math.min(Math.max(v / 1000, 0), 1));
  return { label, score, x: xMin!, y: yMin!, width: xMax! - xMin!, height: yMax! - yMin! };
}
