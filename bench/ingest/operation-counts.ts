import { wrapBinding } from "../../tools/wrap-binding.ts";
import type { OperationCounts } from "./media-part.ts";

/**
 * Wraps the media bindings so that their operations are counted. Each ranged read from R2 takes
 * `readLatencyMs` longer: the local R2 alone keeps the isolate so busy that no sample of its memory
 * can be taken between a collection of garbage and the next read.
 */
export function countOperations<E extends Pick<Env, "MEDIA" | "FRAMES" | "IMAGES">>(
  env: E,
  readLatencyMs: number,
): { env: E; counts: OperationCounts } {
  const counts: OperationCounts = { reads: 0, readBytes: 0, frames: 0, images: 0 };
  const MEDIA = wrapBinding(env.MEDIA, (method, [, options], call) => {
    const { range } = (options ?? {}) as R2GetOptions;
    if (method !== "get" || !range || !("length" in range)) return call();
    counts.reads++;
    counts.readBytes += range.length ?? 0;
    return readLatencyMs > 0 ? scheduler.wait(readLatencyMs).then(call) : call();
  });
  const countInputs = <T extends object>(binding: T, name: "frames" | "images") =>
    wrapBinding(binding, (method, _, call) => {
      if (method === "input") counts[name]++;
      return call();
    });
  const FRAMES = countInputs(env.FRAMES, "frames");
  const IMAGES = countInputs(env.IMAGES, "images");
  return { env: { ...env, MEDIA, FRAMES, IMAGES }, counts };
}
