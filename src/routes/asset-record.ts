import { z } from "@hono/zod-openapi";
import { keyframeKey, sourceKey } from "../store/object-keys.ts";
import { type Asset, ASSET_STATES, ASSET_TYPES, type AssetType } from "../types.ts";
import { indexParams, isoTime, jsonObject } from "./index-record.ts";
import type { MediaUrlSigner } from "../http/signed-url.ts";

export const videoParams = indexParams.extend({ video_id: z.string() });
export const imageParams = indexParams.extend({ image_id: z.string() });

const failure = z.object({ code: z.string(), message: z.string() });

export const assetSource = z.object({
  kind: z.enum(["upload", "url", "videonet", "photonet"]),
  url: z.string().optional(),
  platform: z.string().optional(),
  platform_id: z.string().optional(),
  author: z.string().nullable().optional(),
  licence: z.string().nullable().optional(),
  published_at: z.string().nullable().optional(),
  description: z.string().nullable().optional(),
  alt_text: z.string().nullable().optional(),
});

export const assetRecord = z
  .object({
    asset_id: z.string(),
    asset_type: z.enum(ASSET_TYPES),
    video_id: z.string().nullable(),
    image_id: z.string().nullable(),
    index_name: z.string(),
    title: z.string(),
    state: z.enum(ASSET_STATES),
    progress: z.number().min(0).max(1),
    error: failure.nullable(),
    warnings: z.array(failure),
    source: assetSource,
    content_type: z.string().nullable(),
    size_bytes: z.int(),
    sha256: z.string().nullable(),
    width: z.int().nullable(),
    height: z.int().nullable(),
    duration_seconds: z.number().nullable(),
    fps: z.number().nullable(),
    has_audio: z.boolean().nullable(),
    language: z.string().nullable(),
    segments: z.int(),
    metadata: jsonObject,
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    thumbnail_url: z.url().nullable(),
    media_url: z.url().nullable(),
  })
  .openapi("Asset");

/** Response to a request that adds an asset. */
export const addedAsset = assetRecord
  .extend({ job_id: z.string(), duplicate: z.boolean() })
  .openapi("AddedAsset");

/** Returns the type and the id, the id also as `video_id` or `image_id`. */
export function assetIdFields<Id extends string | null>(assetType: AssetType, id: Id) {
  const isVideo = assetType === "video";
  return {
    asset_type: assetType,
    video_id: isVideo ? id : null,
    image_id: isVideo ? null : id,
  };
}

export async function toAssetRecord(
  asset: Asset,
  signUrl: MediaUrlSigner,
): Promise<z.input<typeof assetRecord>> {
  const isVideo = asset.assetType === "video";
  const thumbnail = asset.keyframeMs === null ? null : keyframeKey(asset, asset.keyframeMs);
  return {
    asset_id: asset.assetId,
    ...assetIdFields(asset.assetType, asset.assetId),
    index_name: asset.indexName,
    title: asset.title,
    state: asset.state,
    progress: asset.progress,
    error: asset.error,
    warnings: asset.warnings,
    source: asset.source,
    content_type: asset.contentType,
    size_bytes: asset.sizeBytes,
    sha256: asset.sha256,
    width: asset.width,
    height: asset.height,
    duration_seconds: isVideo && asset.durationMs > 0 ? asset.durationMs / 1000 : null,
    fps: asset.fps,
    has_audio: asset.hasAudio,
    language: asset.language,
    segments: asset.segments,
    metadata: asset.metadata,
    created_at: isoTime(asset.createdAt),
    updated_at: isoTime(asset.updatedAt),
    thumbnail_url: thumbnail && (await signUrl(thumbnail, "thumbnail.jpg")),
    media_url: asset.sha256 === null ? null : await signUrl(sourceKey(asset), asset.title),
  };
}
