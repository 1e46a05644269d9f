import { traceOf } from "../errors.ts";
import { log } from "../log.ts";
import { frameAt } from "../media/frames.ts";
import type { Hit } from "../search/hits.ts";
import { getKeyframe, sourceKey } from "../store/media.ts";
import type { Source } from "./sources.ts";

/**
 * A picture of each source, by marker: its keyframe, or, where the segment was cut so that this lies
 * outside of it, the frame in the middle of what is left. One that can't be had is left out.
 */
export async function picturesOf(
  env: Env,
  sources: Iterable<readonly [number, Source]>,
): Promise<Map<number, Uint8Array>> {
  const pictures = await Promise.all(
    Array.from(sources, async ([marker, { hit }]) => {
      const jpeg = await pictureOf(env, hit).catch((error: unknown) => {
        log("warn", "answer.without_picture", { cause: traceOf(error) });
        return null;
      });
      return jpeg ? [[marker, jpeg] as const] : [];
    }),
  );
  return new Map(pictures.flat());
}

async function pictureOf(env: Env, { segment, asset }: Hit): Promise<Uint8Array | null> {
  const { startMs, endMs, keyframeMs, problem } = segment;
  if (startMs !== null && endMs !== null && (keyframeMs < startMs || keyframeMs >= endMs)) {
    return frameAt(env, sourceKey(asset), (startMs + endMs) / 2000);
  }
  return problem ? null : getKeyframe(env.MEDIA, asset, keyframeMs);
}
