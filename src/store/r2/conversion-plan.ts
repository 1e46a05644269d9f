import type { ConversionReason, FrameFormat, PlannedRecording } from "../../derived-media.ts";
import type { AssetRef } from "../../types.ts";
import { conversionPlanKey, getJson, putObject } from "./object-keys.ts";

/** How a video is converted. All its pieces and their join follow it. */
export interface ConversionPlan {
  reason: ConversionReason;
  /** The recordings that are joined in the file. Most files have one. */
  recordings: PlannedRecording[];
  /** Null for sound without pictures. */
  frameFormat: FrameFormat | null;
  hasAudio: boolean;
}

export async function putConversionPlan(bucket: R2Bucket, asset: AssetRef, plan: ConversionPlan) {
  await putObject(bucket, conversionPlanKey(asset), JSON.stringify(plan));
}

/** Returns the plan of a conversion that is in progress, else null. */
export function getConversionPlan(bucket: R2Bucket, asset: AssetRef) {
  return getJson<ConversionPlan>(bucket, conversionPlanKey(asset));
}
