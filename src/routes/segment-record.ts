import { z } from "@hono/zod-openapi";
import type { Hit } from "../search/hits.ts";
import { SIGNALS } from "../search/signals.ts";
import { keyframeKey, sourceKey } from "../store/media.ts";
import type { FoundAsset } from "../store/segments.ts";
import { ASSET_TYPES, type Segment } from "../types.ts";
import { idsOf } from "./asset-record.ts";
import { jsonObject } from "./index-record.ts";
import type { MediaUrl } from "./media-url.ts";

const box = z.object({
  label: z.string(),
  score: z.number(),
  x: z.number(),
  y: z.number(),
  width: z.number(),
  height: z.number(),
});

/** A segment by itself. */
export const segmentRecord = z
  .object({
    segment_id: z.string(),
    index_name: z.string(),
    asset_id: z.string(),
    asset_type: z.enum(ASSET_TYPES),
    video_id: z.string().nullable(),
    image_id: z.string().nullable(),
    start_seconds: z.number().nullable(),
    end_seconds: z.number().nullable(),
    caption: z.string(),
    caption_model: z.string().nullable(),
    transcript: z.string(),
    on_screen_text: z.string(),
    labels: z.array(z.string()),
    boxes: z.array(box).nullable(),
    mask: z.object({ size: z.tuple([z.int(), z.int()]), counts: z.string() }).nullable(),
    title: z.string(),
    metadata: jsonObject,
    thumbnail_url: z.url().nullable(),
    clip_url: z.url(),
  })
  .openapi("Segment");

/** A segment as the answer to a query. */
export const hitRecord = segmentRecord
  .extend({
    rank: z.int().min(1),
    score: z.number().min(0).max(1),
    evidence: z.array(
      z.object({
        kind: z.enum(["visual", "speech", "text", "caption"]),
        score: z.number(),
        text: z.string().optional(),
      }),
    ),
    duplicates: z.array(z.string()),
    signals: z.partialRecord(z.enum(SIGNALS), z.number()),
  })
  .openapi("Hit");

export async function toSegmentRecord(
  segment: Segment,
  asset: FoundAsset,
  urlOf: MediaUrl,
): Promise<z.input<typeof segmentRecord>> {
  const { startMs, endMs } = segment;
  const thumbnail = segment.problem ? null : keyframeKey(asset, segment.keyframeMs);
  // A Media Fragment (W3C): a player starts and stops there.
  const fragment = startMs === null ? "" : `#t=${startMs / 1000},${endMs! / 1000}`;
  return {
    segment_id: segment.segmentId,
    index_name: asset.indexName,
    asset_id: asset.assetId,
    ...idsOf(asset.assetType, asset.assetId),
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
    thumbnail_url: thumbnail && (await urlOf(thumbnail, "thumbnail.jpg")),
    clip_url: (await urlOf(sourceKey(asset), asset.title)) + fragment,
  };
}

/** Where only a stretch of the segment was asked for, its times are the record's. */
export async function toHitRecord(
  { segment, asset, rank, score, evidence, signals, duplicates, span, boxes, mask }: Hit,
  urlOf: MediaUrl,
): Promise<z.input<typeof hitRecord>> {
  const record = await toSegmentRecord({ ...segment, ...span }, asset, urlOf);
  return { ...record, boxes, mask, rank, score, evidence, signals, duplicates };
}
