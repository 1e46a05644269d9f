import { traceOf } from "../errors.ts";
import { log } from "../log.ts";
import { extractFrameAt } from "../media/frames.ts";
import type { Hit } from "../search/hits.ts";
import { getKeyframe, sourceKey } from "../store/object-keys.ts";
import type { Source } from "./sources.ts";

/**
 * Reads an image of each source, by marker: its keyframe, or the middle frame of a segment that was
 * cut to a time range without its keyframe. Sources whose image is unavailable are left out.
 */
export async function sourceImages(
  env: Env,
  sources: Iterable<readonly [number, Source]>,
): Promise<Map<number, Uint8Array>> {
  const images = await Promise.all(
    Array.from(sources, async ([marker, { hit }]) => {
      const jpeg = await readImage(env, hit).catch((error: unknown) => {
        log("warn", "answer.image_unavailable", { cause: traceOf(error) });
        return null;
      });
      return jpeg ? [[marker, jpeg] as const] : [];
    }),
  );
  return new Map(images.flat());
}

async function readImage(env: Env, { segment, asset }: Hit): Promise<Uint8Array | null> {
  const { startMs, endMs, keyframeMs, error } = segment;
  if (startMs !== null && endMs !== null && (keyframeMs < startMs || keyframeMs >= endMs)) {
    return extractFrameAt(env, sourceKey(asset), (startMs + endMs) / 2000);
  }
  return error ? null : getKeyframe(env.MEDIA, asset, keyframeMs);
}
