import { causeOf } from "../errors.ts";
import { log } from "../log.ts";
import { cutClip } from "../media/clips.ts";
import { openContainer, requireVideoTrack } from "../media/container.ts";
import { frameOf } from "../media/frames.ts";
import type { Hit } from "../search/hits.ts";
import { getKeyframe, sourceKey } from "../store/media.ts";
import type { Asset } from "../types.ts";
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
        log("warn", "answer.without_picture", { cause: causeOf(error) });
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
    return frameAt(env, asset, (startMs + endMs) / 2);
  }
  return problem ? null : getKeyframe(env.MEDIA, asset, keyframeMs);
}

async function frameAt(env: Env, asset: Asset, ms: number): Promise<Uint8Array> {
  using input = await openContainer(env.MEDIA, sourceKey(asset));
  const track = await requireVideoTrack(input);
  return frameOf(env.FRAMES, await cutClip(track, ms / 1000));
}
