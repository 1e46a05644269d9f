import { INGEST } from "../config.ts";
import { failureOf, isRetryable } from "../errors.ts";
import { describePicture } from "../models/describe.ts";
import { describeSegment, listSegments } from "../store/segments.ts";
import type { Asset } from "../types.ts";
import { eachKeyframe, keepKeyframe } from "./take-keyframes.ts";

/** Looks at the keyframes of one part's segments. What can't be seen is recorded on the segment. */
export async function describe(
  env: Env,
  asset: Asset,
  part: number,
  attempt: number,
): Promise<void> {
  const from = part * INGEST.partSegments;
  const segments = await listSegments(env.DB, asset.assetId, from, from + INGEST.partSegments);
  const unseen = segments.filter(({ described }) => !described);
  await eachKeyframe(env, asset, unseen, async (segment, take) => {
    try {
      const jpeg = await take();
      await keepKeyframe(env, asset, segment, jpeg);
      const seen = await describePicture(env.AI, jpeg);
      const caption = [altOf(asset), seen.caption].filter(Boolean).join(" ");
      await describeSegment(env.DB, segment.segmentId, { ...seen, caption });
    } catch (error) {
      if (isRetryable(error, attempt) || asset.assetType === "image") throw error;
      await describeSegment(env.DB, segment.segmentId, { problem: failureOf(error) });
    }
  });
}

/** What a person wrote of a picture for those who can't see it, as a sentence. */
function altOf({ assetType, source }: Asset): string {
  const text = assetType === "image" ? (source.alt_text ?? "").trim() : "";
  return text === "" || /[.!?…]$/.test(text) ? text : `${text}.`;
}
