import { z } from "@hono/zod-openapi";
import type { MediaUrlSigner } from "../../http/signed-url.ts";
import { keyframeKey, mediaKey, sourceKey, storyboardKey } from "../../store/r2/object-keys.ts";
import { storyboardOf } from "../../storyboard.ts";
import { type Asset, ASSET_STATES, ASSET_TYPES, type AssetType } from "../../types.ts";
import { publicSource } from "../../url-credentials.ts";
import { CONVERSION_REASONS, technicalFactsOf, workingCopyOf } from "../../working-copy.ts";
import { countField, EXAMPLE_TOKEN, failureRecord, idField, orNull, time } from "./fields.ts";
import { indexParams, isoTime, jsonObject } from "./index-record.ts";

export const videoParams = indexParams.extend({ video_id: idField("asset", "Id of the video.") });
export const imageParams = indexParams.extend({ image_id: idField("image", "Id of the image.") });

const platformText = (description: string, example: string) =>
  z.string().nullable().optional().describe(description).openapi({ example });

export const assetSource = z
  .object({
    kind: z
      .enum(["upload", "url", "videonet", "photonet"])
      .describe("How the asset came: an upload, a URL, a video platform or a photo network."),
    url: z
      .string()
      .optional()
      .describe("URL of the file, or of its page on the platform. Uploads have none.")
      .openapi({ example: "https://video.blender.org/w/nRi1tUGRZTx2BuVNCvLzSY" }),
    platform: z.string().optional().describe("Name of the platform.").openapi({
      example: "peertube",
    }),
    platform_id: z.string().optional().describe("Id of the item on the platform.").openapi({
      example: "nRi1tUGRZTx2BuVNCvLzSY",
    }),
    author: platformText("Author, as the platform gives it.", "Blender Foundation"),
    licence: platformText("Licence, as the platform gives it.", "CC BY 4.0"),
    published_at: platformText("Date of publication (RFC 3339).", "2026-05-02T12:00:00.000Z"),
    description: platformText("Description, as the platform gives it.", "An open film."),
    alt_text: platformText("Alternative text of an image.", "A dog on a beach"),
  })
  .describe("Where the file came from.");

const assetId = idField("asset", "Id of the asset.");
const pixels = (side: string, example: number) =>
  z
    .int()
    .nullable()
    .describe(`${side} in pixels; null until known, and for sound.`)
    .openapi({ example });

/** The MP4 that was made of a video. */
const workingCopy = z.object({
  reason: z
    .enum(CONVERSION_REASONS)
    .describe("Error that the original gives: its container, its pictures or its sound.")
    .openapi({ example: "unreadable_container" }),
  container: z.literal("mp4").describe("Container of the copy."),
  video_codec: z
    .string()
    .nullable()
    .describe("Codec of the copy's pictures, H.264; null without pictures.")
    .openapi({ example: "avc" }),
  audio_codec: z
    .string()
    .nullable()
    .describe("Codec of the copy's sound; null without sound.")
    .openapi({ example: "aac" }),
  bytes: z.int().describe("Size of the copy in bytes.").openapi({ example: 9_437_184 }),
  width: z.int().nullable().describe("Width of the copy in pixels.").openapi({ example: 1280 }),
  height: z.int().nullable().describe("Height of the copy in pixels.").openapi({ example: 720 }),
});

/** Small frames of a video in one image, for previews while its position is chosen. */
const storyboard = z.object({
  url: z
    .url()
    .describe("URL of the storyboard as JPEG, valid for an hour.")
    .openapi({ example: `https://search.your-site.dev/media/${EXAMPLE_TOKEN}/storyboard.jpg` }),
  tiles: z.int().describe("Frames in it, in rows from the top.").openapi({ example: 94 }),
  columns: z.int().describe("Frames in each row but the last.").openapi({ example: 10 }),
  tile_width: z.int().describe("Width of a frame in pixels.").openapi({ example: 160 }),
  tile_height: z.int().describe("Height of a frame in pixels.").openapi({ example: 90 }),
  interval_seconds: z
    .number()
    .describe(
      "Seconds from one frame to the next. Frame `n`, from 0, is within half a second of `n` times that.",
    )
    .openapi({ example: 1 }),
});

export const assetRecord = z
  .object({
    asset_id: assetId,
    asset_type: z.enum(ASSET_TYPES).describe("Kind of the asset."),
    video_id: assetId.nullable().describe("The same id if it is a video, else null."),
    image_id: z
      .string()
      .nullable()
      .describe("The same id if it is an image, else null.")
      .openapi({ example: null }),
    index_name: z.string().describe("Name of the index.").openapi({ example: "holidays" }),
    title: z
      .string()
      .describe("Title: the file name, unless it was changed.")
      .openapi({ example: "kitchen.mp4" }),
    state: z
      .enum(ASSET_STATES)
      .describe("Step of the ingest. `ready` can be searched; `failed` has an `error`.")
      .openapi({ example: "ready" }),
    progress: z
      .number()
      .min(0)
      .max(1)
      .describe("Share of the ingest that is done, from 0 to 1.")
      .openapi({ example: 1 }),
    error: orNull(failureRecord, "Why the ingest failed; null in other states.").openapi({
      example: null,
    }),
    warnings: z
      .array(failureRecord)
      .describe("What couldn't be seen or heard in a file that was ingested, and what to do.")
      .openapi({ example: [] }),
    source: assetSource.openapi({ example: { kind: "upload" } }),
    content_type: z
      .string()
      .nullable()
      .describe("Media type, by the file's bytes; null until known.")
      .openapi({ example: "video/mp4" }),
    size_bytes: z.int().describe("Size of the file in bytes; 0 until known.").openapi({
      example: 18_874_368,
    }),
    sha256: z
      .string()
      .nullable()
      .describe("SHA-256 of the file in hexadecimal digits; null until known.")
      .openapi({ example: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" }),
    width: pixels("Width", 1920),
    height: pixels("Height", 1080),
    duration_seconds: z
      .number()
      .nullable()
      .describe("Duration of a video in seconds; null for an image, and until known.")
      .openapi({ example: 93.4 }),
    fps: z
      .number()
      .nullable()
      .describe("Frames per second of a video; null for an image, and until known.")
      .openapi({ example: 25 }),
    has_audio: z
      .boolean()
      .nullable()
      .describe("Whether a video has sound; null for an image, and until known.")
      .openapi({ example: true }),
    has_video: z
      .boolean()
      .nullable()
      .describe(
        "Whether a video has pictures: false for sound alone; null for an image, and until known.",
      )
      .openapi({ example: true }),
    language: z
      .string()
      .nullable()
      .describe("Language that is spoken (BCP 47); null if unknown.")
      .openapi({ example: "en" }),
    taken_at: time(
      "When it was taken, as its file says; null if unknown. UTC if the camera names no time zone.",
    ).nullable(),
    technical: z
      .record(z.string(), z.unknown())
      .describe(
        "Facts of the file: format, container and codecs, and of what took it `taken_at`, `camera`, " +
          "`lens`, `latitude`, `longitude` (degrees) and `altitude` (metres). They are as the file " +
          "says, without what it doesn't say. Of sound without pictures, `waveform`: the largest " +
          "amplitude in each thousandth of its length, from 0 to 1. Only getVideo and " +
          "getVideoMetadata have it.",
      )
      .openapi({ example: { format: "image/heic", camera: "Lumen One", latitude: 60.39 } }),
    working_copy: orNull(
      workingCopy,
      "Copy of a video whose file can't be read as it is, and why it was made; else null.",
    ).openapi({ example: null }),
    storyboard: orNull(
      storyboard,
      "Frames of a video at regular times in one image; null without one.",
    ),
    segments: countField("Segments that can be searched.", 17),
    metadata: jsonObject,
    created_at: time("Creation of the asset."),
    updated_at: time("Last change of the record."),
    thumbnail_url: z
      .url()
      .nullable()
      .describe("URL of a keyframe as JPEG, valid for an hour; null until there is one.")
      .openapi({ example: `https://search.your-site.dev/media/${EXAMPLE_TOKEN}/thumbnail.jpg` }),
    media_url: z
      .url()
      .nullable()
      .describe(
        "URL of the file, or of its working copy, valid for an hour; null until it is stored.",
      )
      .openapi({ example: `https://search.your-site.dev/media/${EXAMPLE_TOKEN}/kitchen.mp4` }),
    original_url: z
      .url()
      .nullable()
      .describe("URL of the file as it came if `media_url` is a working copy, else null.")
      .openapi({ example: null }),
  })
  .openapi("Asset", { description: "A video, sound or an image in an index." });

/** Language and source of a transcript. */
export const transcriptOrigin = {
  language: z
    .string()
    .nullable()
    .describe("Language of the transcript (BCP 47); null if unknown.")
    .openapi({ example: "en" }),
  source: z
    .enum(["upload", "asr", "platform"])
    .describe("Where it came from: an upload, speech recognition or a platform's captions."),
};

/** Response to a request that adds an asset. */
export const addedAsset = assetRecord
  .extend({
    job_id: idField("job", "Id of the job that ingests the asset."),
    duplicate: z
      .boolean()
      .describe(
        "True if the index has these bytes already: this is the earlier asset, and nothing was " +
          "stored. `warnings` says what was sent along and not taken.",
      )
      .openapi({ example: false }),
  })
  .openapi("AddedAsset", { description: "An asset that was added, or found by its bytes." });

/** Returns the type and the id, the id also as `video_id` or `image_id`. */
export function assetIdFields<Id extends string | null>(assetType: AssetType, id: Id) {
  const isVideo = assetType === "video";
  return {
    asset_type: assetType,
    video_id: isVideo ? id : null,
    image_id: isVideo ? null : id,
  };
}

/** Whether a video has pictures. A video of an earlier version has a width if it was probed. */
function hasVideo({ assetType, technical, width }: Asset): boolean | null {
  if (assetType === "image") return null;
  return (technical["has_video"] as boolean | undefined) ?? (width === null ? null : true);
}

async function toStoryboardRecord(asset: Asset, signUrl: MediaUrlSigner) {
  const layout = storyboardOf(asset);
  return layout && { url: await signUrl(storyboardKey(asset), "storyboard.jpg"), ...layout };
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
    source: publicSource(asset.source),
    content_type: asset.contentType,
    size_bytes: asset.sizeBytes,
    sha256: asset.sha256,
    width: asset.width,
    height: asset.height,
    duration_seconds: isVideo && asset.durationMs > 0 ? asset.durationMs / 1000 : null,
    fps: asset.fps,
    has_audio: asset.hasAudio,
    has_video: hasVideo(asset),
    language: asset.language,
    taken_at: (asset.technical["taken_at"] as string | undefined) ?? null,
    technical: technicalFactsOf(asset),
    working_copy: workingCopyOf(asset),
    storyboard: await toStoryboardRecord(asset, signUrl),
    segments: asset.segments,
    metadata: asset.metadata,
    created_at: isoTime(asset.createdAt),
    updated_at: isoTime(asset.updatedAt),
    thumbnail_url: thumbnail && (await signUrl(thumbnail, "thumbnail.jpg")),
    media_url: asset.sha256 === null ? null : await signUrl(mediaKey(asset), asset.title),
    original_url: workingCopyOf(asset) && (await signUrl(sourceKey(asset), asset.title)),
  };
}
