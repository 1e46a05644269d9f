import { z } from "zod";
import { LIMITS } from "../config.ts";
import { archiveRecord, type ArchiveRecord } from "../store/archive-record.ts";

/** Files of an asset that an archive names by a URL, under the asset's prefix in R2. */
const FILE =
  /^(?:source|keyframes\/\d{1,9}\.jpg|(?:frame-signatures|reference-frames)\/\d{1,4}\.(?:json|bin))$/;

/** More than a video of 12 hours has. */
const MAX_FILES = 30_000;

/** Whether an archive with media has a file. */
export function isArchivedFile(path: string): boolean {
  return FILE.test(path);
}

const files = z
  .array(z.object({ path: z.string().regex(FILE), url: z.url({ protocol: /^https?$/ }).max(8000) }))
  .max(MAX_FILES);

const indexLine = z.object({
  kind: z.literal("index"),
  index_name: z.string(),
  description: z.string(),
  metadata: z.record(z.string(), z.unknown()),
});

/** An asset that is searchable. Files are empty in an archive without media. */
const assetLine = z.object({ kind: z.literal("asset"), record: archiveRecord, files });
export type AssetLine = z.infer<typeof assetLine>;

/** The last line. A later export continues an archive without it, or its `assets` are more. */
const endLine = z.object({ kind: z.literal("end"), assets: z.int() });

/** A line of an archive of an index. */
export const archiveLine = z
  .discriminatedUnion("kind", [indexLine, assetLine, endLine])
  .superRefine((line, ctx) => {
    if (line.kind !== "asset") return;
    for (const [field, message] of contradictions(line.record)) {
      ctx.addIssue({
        code: "custom",
        path: ["record", field],
        message,
        params: { type: "value_error" },
      });
    }
  });
export type ArchiveLine = z.infer<typeof archiveLine>;

/** Yields the fields of a record that don't fit together, and why. */
function* contradictions(record: ArchiveRecord): Generator<[keyof ArchiveRecord, string]> {
  const { asset_id, asset_type, segments, duration_ms } = record;
  if (!asset_id.startsWith(asset_type === "video" ? "vid_" : "img_")) {
    yield ["asset_id", `It is no id of an asset of the type ${asset_type}`];
  }
  if (Buffer.byteLength(JSON.stringify(record.metadata)) > LIMITS.metadataBytes) {
    yield ["metadata", `The JSON is larger than the limit of ${LIMITS.metadataBytes} bytes`];
  }
  const isSequence =
    asset_type === "image"
      ? segments.length === 1 && segments[0]!.start_ms === null && segments[0]!.end_ms === null
      : segments.every(({ start_ms, end_ms }, i) => {
          const before = i === 0 ? start_ms : segments[i - 1]!.end_ms;
          return start_ms !== null && end_ms !== null && start_ms === before && end_ms > start_ms;
        });
  if (!isSequence)
    yield ["segments", "A video's follow each other; an image has one, without times"];
  else if (asset_type === "video" && segments.at(-1)!.end_ms! < duration_ms) {
    yield ["segments", "They end before the video does"];
  }
}
