import { z } from "zod";
import { boundedList } from "../bounded-list.ts";
import { LIMITS } from "../config.ts";
import { isTypeOf } from "../media/media-type.ts";
import { NO_KEYFRAME_MS } from "../store/index-database/segments.ts";
import { archiveRecord, type ArchiveRecord } from "../store/r2/archive-record.ts";
import { storyboardOf } from "../storyboard.ts";
import { isObject } from "../user-metadata.ts";
import { workingCopyOf } from "../working-copy.ts";
import { countWindows } from "./segmentation/windows.ts";

/** Files of an asset that an archive names by a URL, under the asset's prefix in R2. */
const FILE =
  /^(?:source|working-copy|storyboard\.jpg|keyframes\/\d{1,9}\.jpg|(?:frame-signatures|reference-frames)\/\d{1,4}\.(?:json|bin))$/;

/** More than a video of 12 hours has. */
const MAX_FILES = 30_000;

/** Whether an archive with media has a file. */
export function isArchivedFile(path: string): boolean {
  return FILE.test(path);
}

const files = boundedList(
  z.object({
    path: z.string().regex(FILE),
    url: z.url({ protocol: /^https?$/ }).max(LIMITS.urlCharacters),
  }),
  MAX_FILES,
);

/** The first line. An import ignores it but for its kind. */
const indexLine = z.object({
  kind: z.literal("index"),
  index_name: z.string().max(1000),
  description: z.string().max(LIMITS.fieldBytes),
  metadata: z.custom<Record<string, unknown>>(isObject, { params: { type: "dict_type" } }),
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
    for (const [path, message] of contradictions(line)) {
      ctx.addIssue({ code: "custom", path, message, params: { type: "value_error" } });
    }
  })
  .transform((line) => {
    if (line.kind !== "asset") return line;
    const referenced = referencedPaths(line.record);
    return { ...line, files: line.files.filter(({ path }) => referenced.has(path)) };
  });
export type ArchiveLine = z.infer<typeof archiveLine>;

/** Returns the paths of the files that an asset may have. */
function referencedPaths(record: ArchiveRecord): Set<string> {
  const windowCount =
    record.asset_type === "video" ? countWindows({ durationMs: record.duration_ms }) : 0;
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

/** Yields the fields of a line that don't fit together, and why. */
function* contradictions({ record, files }: AssetLine): Generator<[string[], string]> {
  const { asset_id, asset_type, segments, content_type, size_bytes, width, height } = record;
  const of = (field: keyof ArchiveRecord) => ["record", field];
  if (!asset_id.startsWith(asset_type === "video" ? "vid_" : "img_")) {
    yield [of("asset_id"), `It is no id of an asset of the type ${asset_type}`];
  }
  if (content_type !== null && !isTypeOf(content_type, asset_type)) {
    yield [of("content_type"), `An asset of the type ${asset_type} has none of that type`];
  }
  if (asset_type === "image" && size_bytes > LIMITS.imageBytes) {
    yield [of("size_bytes"), `An image has ${LIMITS.imageBytes} bytes at most`];
  }
  if (asset_type === "image" && (width ?? 0) * (height ?? 0) > LIMITS.imagePixels) {
    yield [of("width"), `An image has ${LIMITS.imagePixels} pixels at most`];
  }
  if ((asset_type === "video") !== record.duration_ms > 0) {
    yield [of("duration_ms"), "A video has a length; an image has none"];
  }
  const segmentProblem = asset_type === "video" ? videoProblem(record) : imageProblem(record);
  if (segmentProblem !== null) yield [of("segments"), segmentProblem];
  const { keyframe_ms } = record;
  if (keyframe_ms !== null && !segments.some((segment) => segment.keyframe_ms === keyframe_ms)) {
    yield [of("keyframe_ms"), "It is the keyframe of no segment"];
  }
  if (asset_type === "image" && (workingCopyOf(record) ?? storyboardOf(record))) {
    yield [of("technical"), "An image has neither a working copy nor a storyboard"];
  }
  if (asset_type === "image" && record.transcript !== null) {
    yield [of("transcript"), "An image has none"];
  }
  if (new Set(files.map(({ path }) => path)).size < files.length) {
    yield [["files"], "A path occurs twice"];
  }
}

function imageProblem({ segments }: ArchiveRecord): string | null {
  const isWhole = ({ start_ms, end_ms, keyframe_ms }: ArchiveRecord["segments"][number]) =>
    start_ms === null && end_ms === null && keyframe_ms === 0;
  return segments.length === 1 && isWhole(segments[0]!)
    ? null
    : "An image has one, without times, and its keyframe at 0";
}

/** Segments are as `segmentVideo` makes them. */
function videoProblem({ segments, duration_ms, technical }: ArchiveRecord): string | null {
  const isSequence = segments.every(({ start_ms, end_ms }, i) => {
    const before = i === 0 ? 0 : segments[i - 1]!.end_ms;
    return start_ms !== null && end_ms !== null && start_ms === before && end_ms > start_ms;
  });
  if (!isSequence) return "A video's begin at 0, follow each other and have a length";
  if (segments.at(-1)!.end_ms !== duration_ms) return "The last one ends when the video does";
  const isWithin = segments.every(({ start_ms, end_ms, keyframe_ms }) => {
    if (technical["has_video"] === false) return keyframe_ms === NO_KEYFRAME_MS;
    return keyframe_ms >= start_ms! && keyframe_ms < end_ms!;
  });
  return isWithin ? null : "Each has its keyframe within its time, or -1 in sound without pictures";
}
