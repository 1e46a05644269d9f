import * as z from "zod";
import { aiError, requestAi, type EngineEnv, noSuchModel } from "./engine-client.ts";
import { imageBytes } from "./image-bytes.ts";

type Output = Ai_Cf_Moondream_Moondream3_1_9B_A2B_Output;

const IMAGE_TOKENS = 729; // tokens that Moondream counts for one image
const OBJECT_TOKENS = 4;
const MAX_OBJECTS = 50;

const Input = z.object({
  task: z.enum(["query", "caption", "point", "detect"]).default("query"),
  image: z.string().min(1).optional(),
  target: z.string().trim().min(1).optional(),
  max_objects: z.int().min(1).default(MAX_OBJECTS),
  stream: z.boolean().default(false),
});

const EngineObjects = z.object({
  objects: z.array(z.object({ box: z.tuple([z.number(), z.number(), z.number(), z.number()]) })),
});

/**
 * Runs Moondream's `detect` task with the engine's detector: boxes without scores. A target that
 * names none of the detector's classes gives no boxes. The model's other tasks fail with 5007.
 */
export async function detect(env: EngineEnv, model: string, inputs: unknown): Promise<Output> {
  const input = Input.safeParse(inputs);
  if (!input.success) throw aiError(`5006: Error: ${z.prettifyError(input.error)}`);
  const { task, image, target, max_objects: maxObjects, stream } = input.data;
  if (task !== "detect") throw noSuchModel(model);
  if (stream) throw aiError("5006: Error: detect doesn't support streaming");
  if (image === undefined || target === undefined) {
    throw aiError("5006: Error: detect requires image and target");
  }
  const path = `/objects?target=${encodeURIComponent(target)}`;
  const { objects } = EngineObjects.parse(await requestAi(env, model, path, imageBytes(image)));
  const returned = objects.slice(0, maxObjects);
  return {
    finish_reason: "stop",
    metrics: {
      input_tokens: IMAGE_TOKENS,
      output_tokens: OBJECT_TOKENS * returned.length,
      prefill_time_ms: 0,
      decode_time_ms: 0,
      ttft_ms: 0,
    },
    objects: returned.map(({ box: [x_min, y_min, x_max, y_max] }) => ({
      x_min,
      y_min,
      x_max,
      y_max,
    })),
  };
}
