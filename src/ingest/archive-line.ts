import * as z from "zod";
import { boundedList } from "../bounded-list.ts";
import { cleanText } from "../clean-text.ts";
import { LIMITS } from "../config.ts";
import { isTooLong, MAX_CUE_SECONDS, normalizeCues, parseStoredCue } from "../cues.ts";
import { pixels, storyboard, storyboardOf, workingCopy, workingCopyOf } from "../derived-media.ts";
import { boundingBox, descriptionText, label, line, MAX_DESCRIPTION } from "../description.ts";
import { ERRORS, type ErrorCode } from "../errors.ts";
import { ASSET_PREFIX } from "../ids.ts";
import { isLanguageTag } from "../language-tag.ts";
import { captureFacts } from "../media/exif/capture-facts.ts";
import { isTypeOf } from "../media/media-type.ts";
import { WAVEFORM } from "../parameters.ts";
import { NO_KEYFRAME_MS } from "../store/index-database/segments.ts";
import { ASSET_TYPES, type AssetSource, type JsonObject } from "../types.ts";
import { checkMetadata, plainObject } from "../user-metadata.ts";
import { hasUserInfo, parseWebUrl } from "../web-url.ts";
import { countWindows } from "./windows.ts";

/** Version of the format below. Raise it with any change that an older reader would misread. */
export const ARCHIVE_FORMAT = 1;

/** Bounds of a record that another deployment wrote: at least what an asset of ours may have. */
const MAX = {
  text: 10_000, // characters of what a platform says, before it is cleaned
  warnings: 50,
  segments: 20_000, // a video of `LIMITS.videoSeconds` has 10,000
  files: 30_000, // a video of `LIMITS.videoSeconds` has fewer
  framesPerSecond: 1_000_000,
  bitrate: 1e12, // a second
  time: Date.UTC(9999, 11, 31), // the last year of RFC 3339
};

const ms = z
  .int()
  .min(0)
  .max(LIMITS.videoSeconds * 1000);
const message = z.string().max(LIMITS.failureCharacters).transform(cleanText);
/** Language of speech. Drops an invalid language tag, as a transcript does. */
const language = z
  .string()
  .max(MAX.text)
  .transform((tag) => (isLanguageTag(tag) ? tag : null));
/** Matches a media type without parameters; `isTypeOf` tests it further. */
const MEDIA_TYPE = /^[a-z]+\/[\w.+-]+$/;
const codes = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];
const failure = z.object({ code: z.enum(codes), message });

/** A segment. The list is in the order of positions, from 0. Times are ms; null for an image. */
const segment = z
  .object({
    start_ms: ms.nullable(),
    end_ms: ms.nullable(),
    keyframe_ms: z.union([ms, z.literal(-1)]), // -1 for sound
    caption: descriptionText,
    caption_model: line.nullable(),
    on_screen_text: descriptionText,
    labels: boundedList(label, MAX_DESCRIPTION.items),
    boxes: boundedList(boundingBox, MAX_DESCRIPTION.items),
    error: failure.nullable(),
  })
  .refine(
    ({ caption, on_screen_text, labels, boxes }) => {
      const texts = [caption, on_screen_text, ...labels, ...boxes.map((box) => box.label)];
      const characters = texts.reduce((sum, text) => sum + text.length, 0);
      return characters <= MAX_DESCRIPTION.totalCharacters;
    },
    {
      error: `Its texts and labels have more than ${MAX_DESCRIPTION.totalCharacters} characters`,
      params: { type: "value_error" },
    },
  );

const seconds = z.number().min(-MAX_CUE_SECONDS).max(MAX_CUE_SECONDS);
const cue = z.object({
  start: seconds.nullable(),
  end: seconds.nullable(),
  text: z.string().max(LIMITS.transcriptCharacters),
});

/** A transcript. Segments get its text by the times of its cues, which are seconds. */
const transcript = z.object({
  language: language.nullable(),
  source: z.enum(["upload", "asr", "platform"]),
  error: failure.nullable(),
  cues: boundedList(cue, LIMITS.transcriptCues)
    .refine((cues) => !isTooLong(cues), {
      error: `They have more than ${LIMITS.transcriptCharacters} characters`,
      params: { type: "value_error" },
    })
    .refine((cues) => new Set(cues.map(({ start }) => start === null)).size < 2, {
      error: "All of them have a start, or none",
      params: { type: "value_error" },
    })
    .transform((cues) => normalizeCues(cues.map(parseStoredCue))),
});

const sourceText = z.string().max(MAX.text).transform(cleanText);

/** Technical facts, in the order in which an ingest writes them. */
const technical: z.ZodType<JsonObject> = z.object({
  folder: line.exactOptional(),
  format: line.exactOptional(),
  container: line.nullable().exactOptional(),
  has_video: z.boolean().exactOptional(),
  video_codec: line.nullable().exactOptional(),
  codec_string: line.nullable().exactOptional(),
  audio_codec: line.nullable().exactOptional(),
  rotation: z.int().min(-360).max(360).nullable().exactOptional(),
  pixel_aspect: z.number().min(0.1).max(10).exactOptional(),
  bitrate: z.number().min(0).max(MAX.bitrate).nullable().exactOptional(),
  audio_bitrate: z.number().min(0).max(MAX.bitrate).nullable().exactOptional(),
  audio_language: line.nullable().exactOptional(),
  start_timecode: line.nullable().exactOptional(),
  ...captureFacts.shape,
  working_copy: workingCopy.exactOptional(),
  storyboard: storyboard.exactOptional(),
});

const url = z
  .string()
  .max(LIMITS.urlCharacters)
  .refine(
    (value) => {
      const parsed = parseWebUrl(value);
      return parsed !== null && !hasUserInfo(parsed);
    },
    { params: { type: "url_parsing" } },
  );

/** Where an archived asset came from, with the fields that an ingest of its kind stores. */
const archivedSource: z.ZodType<AssetSource> = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("upload") }),
  z.object({ kind: z.literal("url"), url }),
  z.object({
    kind: z.literal(["videonet", "photonet"]),
    url,
    platform: line,
    platform_id: z.string().max(LIMITS.urlCharacters).transform(cleanText),
    author: line.nullable().exactOptional(),
    licence: line.nullable().exactOptional(),
    published_at: z.iso.datetime().max(40).nullable().exactOptional(),
    description: sourceText.nullable().exactOptional(),
    alt_text: sourceText.nullable().exactOptional(),
  }),
]);

/**
 * Everything about an asset that isn't derived from its file or from this record without a model
 * that describes or transcribes. `created_at` is epoch ms.
 */
export const archiveRecord = z.object({
  format: z.literal(ARCHIVE_FORMAT),
  asset_id: z.string().regex(/^(vid|img)_[0-9A-HJKMNP-TV-Z]{26}$/),
  asset_type: z.enum(ASSET_TYPES),
  title: line,
  metadata: plainObject.superRefine(checkMetadata),
  source: archivedSource,
  content_type: z.string().max(100).regex(MEDIA_TYPE).nullable(),
  size_bytes: z.int().min(0).max(LIMITS.uploadBytes),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  width: pixels.nullable(),
  height: pixels.nullable(),
  duration_ms: ms,
  fps: z.number().positive().max(MAX.framesPerSecond).nullable(),
  has_audio: z.boolean().nullable(),
  language: language.nullable(),
  technical,
  waveform: boundedList(z.number().min(0).max(1), WAVEFORM.peaks, WAVEFORM.peaks).exactOptional(),
  keyframe_ms: ms.nullable(),
  warnings: boundedList(failure, MAX.warnings),
  created_at: z.int().min(0).max(MAX.time),
  transcript: transcript.nullable(),
  segments: boundedList(segment, MAX.segments, 1),
});
export type ArchiveRecord = z.infer<typeof archiveRecord>;

/** Files of an asset by their paths under its prefix in R2. */
const files = boundedList(
  z.object({
    path: z.string().max(100),
    url: z.url({ protocol: /^https?$/ }).max(LIMITS.urlCharacters),
  }),
  MAX.files,
);

/** The first line. An import ignores it but for its kind. */
const indexLine = z.object({
  kind: z.literal("index"),
  index_name: z.string().max(1000),
  description: z.string().max(LIMITS.fieldBytes),
  metadata: plainObject,
});

/** An asset that is searchable. Files are empty in an archive without media. */
const assetLine = z.object({ kind: z.literal("asset"), record: archiveRecord, files });
export type AssetLine = z.infer<typeof assetLine>;

/** The last line. A later export continues an archive without it, or its `assets` are more. */
const endLine = z.object({ kind: z.literal("end"), assets: z.int().min(0) });

/** A line of an archive of an index. Files that its record doesn't refer to are left out. */
export const archiveLine = z
  .discriminatedUnion("kind", [indexLine, assetLine, endLine])
  .superRefine((line, ctx) => {
    if (line.kind !== "asset") return;
    for (const [path, isMet, message] of rulesOf(line)) {
      if (!isMet) ctx.addIssue({ code: "custom", path, message, params: { type: "value_error" } });
    }
  })
  .transform((line) => {
    if (line.kind !== "asset") return line;
    const paths = archivedPaths(line.record);
    return { ...line, files: line.files.filter(({ path }) => paths.has(path)) };
  });
export type ArchiveLine = z.infer<typeof archiveLine>;

/** Returns the paths of the files that an asset may have. */
export function archivedPaths(record: ArchiveRecord): Set<string> {
  const isVideo = record.asset_type === "video";
  const windowCount = isVideo ? countWindows({ durationMs: record.duration_ms }) : 0;
  return new Set([
    "source",
    ...(workingCopyOf(record) ? ["working-copy"] : []),
    ...(storyboardOf(record) ? ["storyboard.jpg"] : []),
    ...record.segments.map(({ keyframe_ms }) => `keyframes/${keyframe_ms}.jpg`),
    ...Array.from({ length: windowCount }, (_, window) => [
      `frame-signatures/${window}.json`,
      `reference-frames/${window}.bin`,
    ]).flat(),
  ]);
}

type LineRule = [path: string[], isMet: boolean, message: string];

/** Lists how the fields of a line must fit together. */
function rulesOf({ record, files }: AssetLine): LineRule[] {
  const { asset_id, asset_type, content_type: type, segments, size_bytes, duration_ms } = record;
  const { imageBytes, imagePixels } = LIMITS;
  const isVideo = asset_type === "video";
  const pixelCount = (record.width ?? 0) * (record.height ?? 0);
  const keyframes = [null, ...segments.map(({ keyframe_ms }) => keyframe_ms)];
  const isDerived = (workingCopyOf(record) ?? storyboardOf(record)) !== null;
  const paths = new Set(files.map(({ path }) => path));
  const rules: [keyof ArchiveRecord, boolean, string][] = [
    ["asset_id", asset_id.startsWith(ASSET_PREFIX[asset_type]), `An id of the type ${asset_type}`],
    ["content_type", type === null || isTypeOf(type, asset_type), `A type of ${asset_type} files`],
    ["size_bytes", isVideo || size_bytes <= imageBytes, `An image has ${imageBytes} bytes at most`],
    ["width", isVideo || pixelCount <= imagePixels, `An image has ${imagePixels} pixels at most`],
    ["duration_ms", isVideo === duration_ms > 0, "A video has a length; an image has none"],
    ["segments", isVideo ? areOfVideo(record) : areOfImage(segments), SEGMENTS[asset_type]],
    ["keyframe_ms", keyframes.includes(record.keyframe_ms), "The keyframe of a segment"],
    ["technical", isVideo || !isDerived, "An image has neither a working copy nor a storyboard"],
    ["transcript", isVideo || record.transcript === null, "An image has none"],
  ];
  return [
    ...rules.map(([field, isMet, rule]): LineRule => [["record", field], isMet, rule]),
    [["files"], paths.size === files.length, "Each path once"],
  ];
}

const SEGMENTS = {
  image: "An image has one, without times, and its keyframe at 0",
  video:
    "A video's follow each other from 0 to its end, each with its keyframe within its time, or at " +
    "-1 in sound without pictures",
};

function areOfImage([first, ...others]: ArchiveRecord["segments"]): boolean {
  const { start_ms, end_ms, keyframe_ms } = first!;
  return others.length === 0 && start_ms === null && end_ms === null && keyframe_ms === 0;
}

/** Whether segments are as `segmentVideo` makes them. */
function areOfVideo({ segments, duration_ms, technical }: ArchiveRecord): boolean {
  const isSound = technical["has_video"] === false;
  let before = 0;
  const isSequence = segments.every(({ start_ms, end_ms, keyframe_ms }) => {
    if (start_ms !== before || end_ms === null || end_ms <= start_ms) return false;
    before = end_ms;
    if (isSound) return keyframe_ms === NO_KEYFRAME_MS;
    return keyframe_ms >= start_ms && keyframe_ms < end_ms;
  });
  return isSequence && before === duration_ms;
}
