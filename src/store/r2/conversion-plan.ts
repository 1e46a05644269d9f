import type { AssetRef } from "../../types.ts";
import type { ConversionReason } from "../../working-copy.ts";
import { conversionPlanKey } from "./object-keys.ts";

/** Size in even pixels, upright. `fps` determines the level of the encoder. */
export interface PictureFormat {
  width: number;
  height: number;
  fps: number;
}

/** How a video is converted. All its pieces and their join follow it. */
export interface ConversionPlan {
  reason: ConversionReason;
  /** Time in the container that is the zero of the presentation, in seconds. */
  originSeconds: number;
  durationMs: number;
  /** Pictures of the working copy; null for sound without pictures. */
  picture: PictureFormat | null;
  hasAudio: boolean;
}

export async function putConversionPlan(
  bucket: R2Bucket,
  asset: AssetRef,
  plan: ConversionPlan,
): Promise<void> {
  await bucket.put(conversionPlanKey(asset), JSON.stringify(plan));
}

/** Returns the plan of a conversion that is in progress, else null. */
export async function getConversionPlan(
  bucket: R2Bucket,
  asset: AssetRef,
): Promise<ConversionPlan | null> {
  const object = await bucket.get(conversionPlanKey(asset));
  return object && object.json<ConversionPlan>();
}
