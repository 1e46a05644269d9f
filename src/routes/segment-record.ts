import { z } from "@hono/zod-openapi";
import type { Hit, HitAsset } from "../search/hits.ts";
import { SIGNALS } from "../search/signals.ts";
import { keyframeKey, sourceKey } from "../store/object-keys.ts";
import { ASSET_TYPES, type Segment } from "../types.ts";
import { assetIdFields } from "./asset-record.ts";
import { jsonObject } from "./index-record.ts";
import type { MediaUrlSigner } from "../http/signed-url.ts";

/** Schema of a field with a description for the OpenAPI document. */
function described<Schema extends z.ZodType>(schema: Schema, description: string): Schema {
  return schema.openapi({ description });
}

const box = z.object({
  label: z.string(),
  score: described(z.number(), "Confidence of the detection, from 0 to 1."),
  x: described(z.number(), "Left edge as a fraction of the image's width."),
  y: described(z.number(), "Top edge as a fraction of the image's height."),
  width: described(z.number(), "Width as a fraction of the image's width."),
  height: described(z.number(), "Height as a fraction of the image's height."),
});

/** A segment outside of a search. */
export const segmentRecord = z
  .object({
    segment_id: z.string(),
    index_name: z.string(),
    asset_id: z.string(),
    asset_type: z.enum(ASSET_TYPES),
    video_id: z.string().nullable(),
    image_id: z.string().nullable(),
    start_seconds: described(
      z.number().nullable(),
      "Start in seconds from the beginning of the video; null for an image.",
    ),
    end_seconds: described(
      z.number().nullable(),
      "End in seconds from the beginning of the video; null for an image.",
    ),
    caption: z.string(),
    caption_model: described(
      z.string().nullable(),
      "Model that wrote the caption. `template`: the detected labels in a sentence.",
    ),
    transcript: z.string(),
    on_screen_text: z.string(),
    labels: z.array(z.string()),
    boxes: z.array(box).nullable(),
    mask: z.object({ size: z.tuple([z.int(), z.int()]), counts: z.string() }).nullable(),
    title: z.string(),
    metadata: jsonObject,
    thumbnail_url: z.url().nullable(),
    clip_url: described(
      z.url(),
      "URL of the file, valid for an hour; players start at the segment.",
    ),
  })
  .openapi("Segment");

/** A segment that matches a query. */
export const hitRecord = segmentRecord
  .extend({
    rank: z.int().min(1),
    score: described(
      z.number().min(0).max(1),
      "Probability that the segment is relevant, from 0 to 1.",
    ),
    evidence: z.array(
      z.object({
        kind: z.enum(["visual", "speech", "text", "caption"]),
        score: z.number(),
        text: described(
          z.string().optional(),
          "Excerpt as HTML text, with the matching words in `<mark>` elements.",
        ),
      }),
    ),
    duplicates: described(
      z.array(z.string()),
      "Ids of near-duplicate segments that were collapsed into this one.",
    ),
    signals: described(
      z.partialRecord(z.enum(SIGNALS), z.number()),
      "Signals from which the score was computed. docs/search.md lists them.",
    ),
  })
  .openapi("Hit");

export async function toSegmentRecord(
  segment: Segment,
  asset: HitAsset,
  signUrl: MediaUrlSigner,
): Promise<z.input<typeof segmentRecord>> {
  const { startMs, endMs } = segment;
  const thumbnail = segment.hasKeyframe ? keyframeKey(asset, segment.keyframeMs) : null;
  // W3C Media Fragment: a player starts and stops at these times.
  const fragment = startMs === null ? "" : `#t=${startMs / 1000},${endMs! / 1000}`;
  return {
    segment_id: segment.segmentId,
    index_name: asset.indexName,
    asset_id: asset.assetId,
    ...assetIdFields(asset.assetType, asset.assetId),
    start_seconds: startMs === null ? null : startMs / 1000,
    end_seconds: endMs === null ? null : endMs / 1000,
    caption: segment.caption,
    caption_model: segment.captionModel,
    transcript: segment.transcript,
    on_screen_text: segment.onScreenText,
    labels: segment.labels,
    boxes: segment.boxes,
    mask: null,
    title: asset.title,
    metadata: asset.metadata,
    thumbnail_url: thumbnail && (await signUrl(thumbnail, "thumbnail.jpg")),
    clip_url: (await signUrl(sourceKey(asset), asset.title)) + fragment,
  };
}

/** Converts a hit. Its times are those of the matching time range, if only a part matched. */
export async function toHitRecord(
  { segment, asset, rank, score, evidence, signals, duplicates, timeRange, boxes, mask }: Hit,
  signUrl: MediaUrlSigner,
): Promise<z.input<typeof hitRecord>> {
  const record = await toSegmentRecord({ ...segment, ...timeRange }, asset, signUrl);
  return { ...record, boxes, mask, rank, score, evidence, signals, duplicates };
}
