import * as z from "zod";
import { MODELS } from "../config.ts";
import type { Rect } from "../types.ts";
import { dataUri, runModel } from "./run.ts";

const { id, maxObjects, timeoutMs } = MODELS.detect;

/** Coordinates above this are pixels; fractions may be slightly outside the frame. */
const MAX_FRACTION = 1.5;

const response = z.object({
  objects: z.array(
    z.object({ x_min: z.number(), y_min: z.number(), x_max: z.number(), y_max: z.number() }),
  ),
});

/**
 * Detects the objects that a phrase names ("a person in a red shirt") in a JPEG. Returns rectangles
 * in fractions of the frame, which may exceed it, without scores. `size` is in pixels: the model
 * returns either pixels or fractions, and doesn't indicate which.
 */
export async function detect(
  ai: Ai,
  jpeg: Uint8Array,
  size: { width: number; height: number },
  target: string,
): Promise<Rect[]> {
  const input = {
    task: "detect",
    image: dataUri(jpeg),
    target,
    max_objects: maxObjects,
    reasoning: false,
    stream: false,
  };
  const { objects } = await runModel(ai, id, input, response, timeoutMs);
  const isInPixels = ({ x_max, y_max }: (typeof objects)[number]) =>
    Math.max(x_max, y_max) > MAX_FRACTION;
  const [scaleX, scaleY] = objects.some(isInPixels) ? [size.width, size.height] : [1, 1];
  return objects.map(({ x_min, y_min, x_max, y_max }) => ({
    x: x_min / scaleX,
    y: y_min / scaleY,
    width: (x_max - x_min) / scaleX,
    height: (y_max - y_min) / scaleY,
  }));
}
