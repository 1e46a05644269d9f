import { z } from "zod";
import { aiError, askForAi, type EngineEnv, noSuchModel } from "./engine-client.ts";
import { pictureBytes } from "./picture-bytes.ts";

type Output = Ai_Cf_Moondream_Moondream3_1_9B_A2B_Output;

const PICTURE_TOKENS = 729; // what Moondream makes of one picture
const OBJECT_TOKENS = 4;
const MAX_OBJECTS = 50;

const Input = z.object({
  task: z.enum(["query", "caption", "point", "detect"]).default("query"),
  image: z.string().min(1).optional(),
  target: z.string().trim().min(1).optional(),
  max_objects: z.int().min(1).default(MAX_OBJECTS),
  stream: z.boolean().default(false),
});

const Found = z.object({
  objects: z.array(z.object({ box: z.tuple([z.number(), z.number(), z.number(), z.number()]) })),
});

/**
 * Moondream's `detect`: boxes, without scores, of what the engine's detector sees, where the target
 * names something that it knows; none otherwise. The model's other tasks are not there.
 */
export async function detect(env: EngineEnv, model: string, inputs: unknown): Promise<Output> {
  const input = Input.safeParse(inputs);
  if (!input.success) throw aiError(`5006: Error: ${z.prettifyError(input.error)}`);
  const { task, image, target, max_objects: most, stream } = input.data;
  if (task !== "detect") throw noSuchModel(model);
  if (stream) throw aiError("5006: Error: detect doesn't support streaming");
  if (image === undefined || target === undefined) {
    throw aiError("5006: Error: detect requires image and target");
  }
  const path = `/objects?target=${encodeURIComponent(target)}`;
  const { objects } = Found.parse(await askForAi(env, model, path, pictureBytes(image)));
  const shown = objects.slice(0, most);
  return {
    finish_reason: "stop",
    metrics: {
      input_tokens: PICTURE_TOKENS,
      output_tokens: OBJECT_TOKENS * shown.length,
      prefill_time_ms: 0,
      decode_time_ms: 0,
      ttft_ms: 0,
    },
    objects: shown.map(({ box: [x_min, y_min, x_max, y_max] }) => ({ x_min, y_min, x_max, y_max })),
  };
}
