import { z } from "zod";
import { boundedList } from "../../bounded-list.ts";
import { cleanText } from "../../clean-text.ts";
import { LIMITS } from "../../config.ts";
import { isTooLong, MAX_CUE_SECONDS, normalizeCues } from "../../cues.ts";
import { boundingBox, descriptionText, label, MAX_DESCRIPTION } from "../../description.ts";
import { ERRORS, type ErrorCode } from "../../errors.ts";
import { isLanguageTag } from "../../language-tag.ts";
import { CONVERSION, STORYBOARD_TILES, WAVEFORM } from "../../parameters.ts";
import { STORYBOARD } from "../../storyboard.ts";
import { cleanTitle } from "../../title.ts";
import { ASSET_TYPES, type Cue, type JsonObject } from "../../types.ts";
import { checkMetadata, isObject } from "../../user-metadata.ts";
import { CONVERSION_REASONS, WORKING_COPY } from "../../working-copy.ts";
import { archivedSource } from "./archived-source.ts";

/** Version of the format below. Raise it with any change that an older reader would misread. */
export const ARCHIVE_FORMAT = 1;

/** Bounds of a record that another deployment wrote: at least what an asset of ours may have. */
const MAX = {
  line: 10_000, // characters of a title or another name, before it is cleaned
  warnings: 50,
  segments: 20_000, // a video of `LIMITS.videoSeconds` has 10,000
  cues: 150_000, // a transcript of 12 hours has fewer
  side: 1_000_000, // pixels
  framesPerSecond: 1_000_000,
  bitrate: 1e12, // a second
  time: Date.UTC(9999, 11, 31), // the last year of RFC 3339
};

const ms = z
  .int()
  .min(0)
  .max(LIMITS.videoSeconds * 1000);
const line = z.string().max(MAX.line).transform(cleanTitle);
const message = z.string().max(LIMITS.failureCharacters).transform(cleanText);
/** Language of speech. Drops an invalid language tag, as a transcript does. */
const language = z
  .string()
  .max(MAX.line)
  .transform((tag) => (isLanguageTag(tag) ? tag : null));
const metadata = z
  .custom<JsonObject>(isObject, { params: { type: "dict_type" } })
  .superRefine(checkMetadata);
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
    text_model: line.nullable(),
    image_model: line.nullable(),
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
  cues: boundedList(cue, MAX.cues)
    .refine((cues) => !isTooLong(cues), {
      error: `They have more than ${LIMITS.transcriptCharacters} characters`,
      params: { type: "value_error" },
    })
    .refine((cues) => new Set(cues.map(({ start }) => start === null)).size < 2, {
      error: "All of them have a start, or none",
      params: { type: "value_error" },
    })
    .transform((cues) => normalizeCues(cues.map(toCue)).map(fromCue)),
});

/** A cue as an archive has it: unknown times are null. */
type ArchivedCue = z.output<typeof cue>;

function toCue({ start, end, text }: ArchivedCue): Cue {
  return { start: start ?? NaN, end: end ?? NaN, text };
}

export function fromCue({ start, end, text }: Cue): ArchivedCue {
  const orNull = (time: number) => (Number.isNaN(time) ? null : time);
  return { start: orNull(start), end: orNull(end), text };
}

/** Returns the cues of an archived transcript; none without one. Unknown times are NaN. */
export function archivedCues({ transcript }: Pick<ArchiveRecord, "transcript">): Cue[] {
  return (transcript?.cues ?? []).map(toCue);
}

const toUtc = (time: string) => new Date(time).toISOString();

const pixels = z.int().min(1).max(MAX.side);

/** What was made of a file that can't be read, or doesn't play, as it is. */
const workingCopy = z.object({
  reason: z.enum(CONVERSION_REASONS),
  container: z.literal("mp4"),
  video_codec: z.literal("avc").nullable(),
  audio_codec: z.literal("aac").nullable(),
  bytes: z.int().min(1).max(CONVERSION.copyBytes),
  width: pixels.nullable(),
  height: pixels.nullable(),
});

const { maxTiles, maxColumns, longSide, minShortSide } = STORYBOARD_TILES;
const tileSide = z.int().min(minShortSide).max(longSide);

/** Layout of the storyboard that an ingest makes. */
const storyboard = z.object({
  tiles: z.int().min(1).max(maxTiles),
  columns: z.int().min(1).max(maxColumns),
  tile_width: tileSide,
  tile_height: tileSide,
  interval_seconds: z.number().min(0.001).max(LIMITS.videoSeconds),
});

/** What the probe of a file finds. */
const technical: z.ZodType<JsonObject> = z.object({
  format: line.exactOptional(),
  container: line.nullable().exactOptional(),
  has_video: z.boolean().exactOptional(),
  video_codec: line.nullable().exactOptional(),
  codec_string: line.nullable().exactOptional(),
  audio_codec: line.nullable().exactOptional(),
  rotation: z.int().min(-360).max(360).nullable().exactOptional(),
  bitrate: z.number().min(0).max(MAX.bitrate).nullable().exactOptional(),
  audio_bitrate: z.number().min(0).max(MAX.bitrate).nullable().exactOptional(),
  audio_language: line.nullable().exactOptional(),
  taken_at: z.iso.datetime().max(40).transform(toUtc).exactOptional(),
  camera: line.exactOptional(),
  lens: line.exactOptional(),
  latitude: z.number().min(-90).max(90).exactOptional(),
  longitude: z.number().min(-180).max(180).exactOptional(),
  altitude: z.number().min(-500).max(100_000).exactOptional(),
  [WORKING_COPY]: workingCopy.exactOptional(),
  [STORYBOARD]: storyboard.exactOptional(),
});

/**
 * Everything about an asset that isn't derived from its file or from this record without a model
 * that describes or transcribes. `created_at` is epoch ms.
 */
export const archiveRecord = z.object({
  format: z.literal(ARCHIVE_FORMAT),
  asset_id: z.string().regex(/^(vid|img)_[0-9A-HJKMNP-TV-Z]{26}$/),
  asset_type: z.enum(ASSET_TYPES),
  title: line,
  metadata,
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
