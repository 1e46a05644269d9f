import {
  CONVERSION_REASONS,
  storyboardOf,
  technicalFactsOf,
  workingCopyOf,
} from "../../derived-media.ts";
import { mapRecord } from "../../field-names.ts";
import type { MediaUrlSigner } from "../../http/context.ts";
import {
  assetIdFields,
  countField,
  failureRecord,
  flag,
  idField,
  int,
  jsonObject,
  mediaUrl,
  number,
  oneOf,
  orNull,
  share,
  text,
  time,
} from "../../http/fields.ts";
import * as z from "../../http/zod.ts";
import { keyframeKey, mediaKey, sourceKey, storyboardKey } from "../../store/r2/object-keys.ts";
import { type Asset, ASSET_STATES, ASSET_TYPES } from "../../types.ts";
import { publicSource } from "../../url-credentials.ts";

const platformText = (description: string, example: string) =>
  text(description, example).nullable().optional();

export const assetSource = z
  .object({
    kind: oneOf(
      ["upload", "url", "videonet", "photonet"],
      "How the asset came: an upload, a URL, a video platform or a photo network.",
    ),
    url: text(
      "URL of the file, or of its page on the platform. Uploads have none.",
      "https://video.blender.org/w/nRi1tUGRZTx2BuVNCvLzSY",
    ).optional(),
    platform: text("Name of the platform.", "peertube").optional(),
    platform_id: text("Id of the item on the platform.", "nRi1tUGRZTx2BuVNCvLzSY").optional(),
    author: platformText("Author, as the platform gives it.", "Blender Foundation"),
    licence: platformText("Licence, as the platform gives it.", "CC BY 4.0"),
    published_at: platformText("Date of publication (RFC 3339).", "2026-05-02T12:00:00.000Z"),
    description: platformText("Description, as the platform gives it.", "An open film."),
    alt_text: platformText("Alternative text of an image.", "A dog on a beach"),
  })
  .describe("Where the file came from.");

export const stateFilter = z
  .enum(ASSET_STATES)
  .optional()
  .describe("Lists only assets in this state.");

const assetId = idField("asset", "Id of the asset.");
const pixels = (side: string, example: number) =>
  int(`${side} in pixels; null until known, and for sound.`, example).nullable();

const workingCopy = z.object({
  reason: oneOf(
    CONVERSION_REASONS,
    "Error that the original gives: its container, its pictures or its sound.",
    "unreadable_container",
  ),
  container: z.literal("mp4").describe("Container of the copy."),
  video_codec: text("Codec of its pictures, H.264; null without pictures.", "avc").nullable(),
  audio_codec: text("Codec of the copy's sound; null without sound.", "aac").nullable(),
  bytes: int("Size of the copy in bytes.", 9_437_184),
  width: int("Width of the copy in pixels.", 1280).nullable(),
  height: int("Height of the copy in pixels.", 720).nullable(),
});

/** Small frames of a video in one image, for previews while its position is chosen. */
const storyboard = z.object({
  url: mediaUrl("URL of the storyboard as JPEG, valid for an hour.", "storyboard.jpg"),
  tiles: int("Frames in it, in rows from the top.", 94),
  columns: int("Frames in each row but the last.", 10),
  tile_width: int("Width of a frame in pixels.", 160),
  tile_height: int("Height of a frame in pixels.", 90),
  interval_seconds: number(
    "Seconds from one frame to the next. Frame `n`, from 0, shows the segment at `n` times that.",
    1,
  ),
});

export const assetRecord = z
  .object({
    asset_id: assetId,
    asset_type: oneOf(ASSET_TYPES, "Kind of the asset."),
    video_id: assetId.nullable().describe("The same id if it is a video, else null."),
    image_id: text("The same id if it is an image, else null.", null).nullable(),
    index_name: text("Name of the index.", "holidays"),
    title: text("Title: the file name, unless it was changed.", "kitchen.mp4"),
    state: oneOf(ASSET_STATES, "Step of the ingest. `failed` has an `error`.", "ready"),
    progress: share("Share of the ingest that is done, from 0 to 1.", 1),
    error: orNull(failureRecord, "Why the ingest failed; null in other states.", null),
    warnings: z
      .array(failureRecord)
      .describe("What couldn't be seen or heard in a file that was ingested, and what to do.")
      .openapi({ example: [] }),
    source: assetSource.openapi({ example: { kind: "upload" } }),
    content_type: text("Media type by the file's bytes; null until known.", "video/mp4").nullable(),
    size_bytes: int("Size of the file in bytes; 0 until known.", 18_874_368),
    sha256: text(
      "SHA-256 of the file in hexadecimal digits; null until known.",
      "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ).nullable(),
    width: pixels("Width", 1920),
    height: pixels("Height", 1080),
    duration_seconds: number(
      "Duration in seconds; null for an image, and until known.",
      93.4,
    ).nullable(),
    fps: number("Frames per second of a video; null for an image, and until known.", 25).nullable(),
    has_audio: flag("Whether it has sound; null for an image, and until known.", true).nullable(),
    has_video: flag(
      "Whether a video has pictures: false for sound alone; null for an image, and until known.",
      true,
    ).nullable(),
    language: text("Language that is spoken (BCP 47); null if unknown.", "en").nullable(),
    taken_at: time(
      "When it was taken, as its file says; null if unknown. UTC if the camera names no time zone.",
    ).nullable(),
    technical: z
      .record(z.string(), z.unknown())
      .describe(
        "Facts of the file: format, container and codecs, and of what took it `taken_at`, `camera`, " +
          "`lens`, `latitude`, `longitude` (degrees) and `altitude` (metres). `folder` is the one that " +
          "its name came with; `description` and `keywords` are its own. They are as the file " +
          "says, without what it doesn't say. Of sound without pictures, `waveform`: the largest " +
          "amplitude in each thousandth of its length, from 0 to 1. Only getVideo and " +
          "getVideoMetadata have it.",
      )
      .openapi({ example: { format: "image/heic", camera: "Lumen One", latitude: 60.39 } }),
    working_copy: orNull(
      workingCopy,
      "Copy of a video whose file can't be read as it is, and why it was made; else null.",
      null,
    ),
    storyboard: orNull(
      storyboard,
      "Frames of a video at regular times in one image; null without one.",
    ),
    segments: countField("Segments that can be searched.", 17),
    metadata: jsonObject,
    created_at: time("Creation of the asset."),
    updated_at: time("Last change of the record."),
    thumbnail_url: mediaUrl(
      "URL of a keyframe as JPEG, valid for an hour; null until there is one.",
      "thumbnail.jpg",
    ).nullable(),
    media_url: mediaUrl(
      "URL of the file, or of its working copy, valid for an hour; null until it is stored.",
      "kitchen.mp4",
    ).nullable(),
    original_url: z
      .url()
      .nullable()
      .describe(
        "URL of the file as it came if `media_url` is a working copy, else null; null too if an " +
          "import had no such file.",
      )
      .openapi({ example: null }),
  })
  .openapi("Asset", { description: "A video, sound or an image in an index." });

export const transcriptOrigin = {
  language: text("Language of the transcript (BCP 47); null if unknown.", "en").nullable(),
  source: oneOf(
    ["upload", "asr", "platform"],
    "Where it came from: an upload, speech recognition or a platform's captions.",
  ),
};

export const addedAsset = assetRecord
  .extend({
    job_id: idField("job", "Id of the job that ingests the asset."),
    duplicate: flag(
      "True if the index has these bytes already: this is the earlier asset, and nothing was " +
        "stored. `warnings` says what was sent along and not taken.",
      false,
    ),
  })
  .openapi("AddedAsset", { description: "An asset that was added, or found by its bytes." });

/** Whether a video has pictures. A video of an earlier version has a width if it was probed. */
function hasVideo({ assetType, technical, width }: Asset): boolean | null {
  if (assetType === "image") return null;
  return (technical["has_video"] as boolean | undefined) ?? (width === null ? null : true);
}

export async function toAssetRecord(
  asset: Asset,
  signUrl: MediaUrlSigner,
): Promise<z.input<typeof assetRecord>> {
  const { assetType, durationMs, keyframeMs, technical, title } = asset;
  const layout = storyboardOf(asset);
  const copy = workingCopyOf(asset);
  return mapRecord(assetRecord, asset, {
    ...assetIdFields(assetType, asset.assetId),
    source: publicSource(asset.source),
    duration_seconds: assetType === "video" && durationMs > 0 ? durationMs / 1000 : null,
    has_video: hasVideo(asset),
    taken_at: (technical["taken_at"] as string | undefined) ?? null,
    technical: technicalFactsOf(asset),
    working_copy: copy,
    storyboard: layout && {
      url: await signUrl(storyboardKey(asset), "storyboard.jpg"),
      ...layout,
    },
    thumbnail_url:
      keyframeMs === null ? null : await signUrl(keyframeKey(asset, keyframeMs), "thumbnail.jpg"),
    media_url: asset.sha256 === null ? null : await signUrl(mediaKey(asset), title),
    original_url: copy && asset.sizeBytes > 0 ? await signUrl(sourceKey(asset), title) : null,
  });
}
