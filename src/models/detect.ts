import { z } from "zod";
import { MODELS } from "../config.ts";
import type { Place } from "../types.ts";
import { dataUri } from "./data-uri.ts";
import { runModel } from "./run.ts";

const { id, maxObjects, timeoutMs } = MODELS.detect;

/** A box with a side beyond this is in pixels; fractions may lie a little outside of the frame. */
const MOST_OF_FRACTIONS = 1.5;

const answer = z.object({
  objects: z.array(
    z.object({ x_min: z.number(), y_min: z.number(), x_max: z.number(), y_max: z.number() }),
  ),
});

/**
 * Where a vision model sees what `target` names ("a person in a red shirt") in a JPEG of this size in
 * pixels, which counts where the model answers in pixels: it doesn't say whether it does. It gives no
 * scores, and places may reach beyond the frame.
 */
export async function detect(
  ai: Ai,
  jpeg: Uint8Array,
  size: { width: number; height: number },
  target: string,
): Promise<Place[]> {
  const input = {
    task: "detect",
    image: dataUri(jpeg),
    target,
    max_objects: maxObjects,
    reasoning: false,
    stream: false,
  };
  const { objects } = await runModel(ai, id, input, answer, timeoutMs);
  const isInPixels = ({ x_max, y_max }: (typeof objects)[number]) =>
    Math.max(x_max, y_max) > MOST_OF_FRACTIONS;
  const [across, down] = objects.some(isInPixels) ? [size.width, size.height] : [1, 1];
  return objects.map(({ x_min, y_min, x_max, y_max }) => ({
    x: x_min / across,
    y: y_min / down,
    width: (x_max - x_min) / across,
    height: (y_max - y_min) / down,
  }));
}
