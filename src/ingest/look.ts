import { traceOf, failureOf, isRetryable } from "../errors.ts";
import { log } from "../log.ts";
import { openContainer, requireVideoTrack } from "../media/container.ts";
import { sharpnessOf } from "../media/sharpness.ts";
import { lookThrough, type Seen } from "../media/shots.ts";
import { thumbnailsOf } from "../media/thumbnails.ts";
import { sourceKey } from "../store/media.ts";
import { putSeen } from "../store/seen.ts";
import type { Asset } from "../types.ts";
import { stretchAt } from "./stretches.ts";

/**
 * Looks through one stretch of a video: keeps stills of it and where its shots begin, for the steps that
 * follow. Of one that can't be decoded there are none.
 */
export async function look(env: Env, asset: Asset, part: number, attempt: number): Promise<void> {
  const { stills, transitions, operations } = await see(env, asset, part, attempt);
  const small = thumbnailsOf(stills).map(({ seconds, thumbnail }, i) => {
    const sharpness = Math.round(sharpnessOf(stills[i]!.grey));
    return { seconds, sharpness, thumbnail: btoa(String.fromCharCode(...thumbnail)) };
  });
  const greys = stills.map(({ grey }) => grey);
  await putSeen(env.MEDIA, asset, part, { stills: small, transitions, operations, greys });
}

async function see(env: Env, asset: Asset, part: number, attempt: number): Promise<Seen> {
  const { startMs, endMs } = stretchAt(asset, part);
  const span = { from: startMs / 1000, to: endMs / 1000 };
  try {
    using input = await openContainer(env.MEDIA, sourceKey(asset), span);
    const track = await requireVideoTrack(input);
    return await lookThrough(env, track, span);
  } catch (error) {
    if (isRetryable(error, attempt)) throw error;
    const fields = { asset: asset.assetId, part, code: failureOf(error).code };
    log("warn", "ingest.without_stills", { ...fields, cause: traceOf(error) });
    return { stills: [], transitions: [], operations: 0 };
  }
}
