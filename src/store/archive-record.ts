import { z } from "zod";
import { LIMITS } from "../config.ts";
import { ERRORS, type ErrorCode } from "../errors.ts";
import { ASSET_TYPES, type JsonObject } from "../types.ts";

/** Version of the format below. Raise it with any change that an older reader would misread. */
export const ARCHIVE_FORMAT = 1;

/** Bounds of a record that another deployment wrote: at least what an asset of ours may have. */
const MAX = {
  text: LIMITS.transcriptBytes,
  name: 10_000,
  list: 1000,
  segments: 20_000, // a video of `LIMITS.videoSeconds` has 10,000
  cues: 300_000, // a transcript of `LIMITS.transcriptBytes` has fewer
};
const MAX_MS = 2 * LIMITS.videoSeconds * 1000;

const text = z.string().max(MAX.text);
const name = z.string().max(MAX.name);
const ms = z.int().min(0).max(MAX_MS);
const share = z.number().min(0).max(1);
const object = z.custom<JsonObject>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  { params: { type: "dict_type" } },
);
const codes = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];
const failure = z.object({ code: z.enum(codes), message: name });

const box = z.object({
  label: name,
  score: share,
  x: share,
  y: share,
  width: share,
  height: share,
});

/** A segment. The list is in the order of positions, from 0. Times are ms; null for an image. */
const segment = z.object({
  start_ms: ms.nullable(),
  end_ms: ms.nullable(),
  keyframe_ms: ms,
  caption: text,
  caption_model: name.nullable(),
  on_screen_text: text,
  labels: z.array(name).max(MAX.list),
  boxes: z.array(box).max(MAX.list),
  error: failure.nullable(),
  text_model: name.nullable(),
  image_model: name.nullable(),
});

/** A transcript. Segments get its text by the times of its cues, which are seconds. */
const transcript = z.object({
  language: name.nullable(),
  source: z.enum(["upload", "asr", "platform"]),
  error: failure.nullable(),
  cues: z
    .array(z.object({ start: z.number().nullable(), end: z.number().nullable(), text }))
    .max(MAX.cues),
});

/**
 * Everything about an asset that isn't derived from its file or from this record without a model
 * that describes or transcribes. `created_at` is epoch ms.
 */
export const archiveRecord = z.object({
  format: z.literal(ARCHIVE_FORMAT),
  asset_id: z.string().regex(/^(vid|img)_[0-9A-HJKMNP-TV-Z]{26}$/),
  asset_type: z.enum(ASSET_TYPES),
  title: name,
  metadata: object,
  source: z.object({
    kind: z.enum(["upload", "url", "videonet", "photonet"]),
    url: text.exactOptional(),
    platform: name.exactOptional(),
    platform_id: name.exactOptional(),
    author: name.nullable().exactOptional(),
    licence: name.nullable().exactOptional(),
    published_at: name.nullable().exactOptional(),
    description: text.nullable().exactOptional(),
    alt_text: text.nullable().exactOptional(),
  }),
  content_type: name.nullable(),
  size_bytes: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  width: z.int().min(1).nullable(),
  height: z.int().min(1).nullable(),
  duration_ms: ms,
  fps: z.number().positive().nullable(),
  has_audio: z.boolean().nullable(),
  language: name.nullable(),
  technical: object,
  keyframe_ms: ms.nullable(),
  warnings: z.array(failure).max(MAX.list),
  created_at: z.int().min(0),
  transcript: transcript.nullable(),
  segments: z.array(segment).min(1).max(MAX.segments),
});
export type ArchiveRecord = z.infer<typeof archiveRecord>;
export type ArchivedSegment = ArchiveRecord["segments"][number];

/** The record in R2, which also has where the content of its asset is. */
export const storedArchive = archiveRecord.extend({
  location: z.object({
    shard: z.int().min(0),
    vector_pair: z.int().min(1),
    job_id: z.string(),
    transcript_job_id: z.string().nullable(),
  }),
});
export type StoredArchive = z.infer<typeof storedArchive>;
