import type { AssetRef } from "../../types.ts";
import type { ConversionReason, FrameFormat } from "../../working-copy.ts";
import { conversionPlanKey } from "./object-keys.ts";

/** How a video is converted. All its pieces and their join follow it. */
export interface ConversionPlan {
  reason: ConversionReason;
  /** Time in the container that is the zero of the presentation, in seconds. */
  originSeconds: number;
  durationMs: number;
  /** Null for sound without pictures. */
  frameFormat: FrameFormat | null;
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
