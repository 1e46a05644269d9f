import { LIMITS } from "../config.ts";
import { CALIBRATION_STATES } from "../search/calibration.ts";
import type { AssetType } from "../types.ts";
import { checkMetadata, plainObject } from "../user-metadata.ts";
import * as z from "./zod.ts";

export const anyObject = () =>
  plainObject
    .describe("JSON object that the user attaches, at most 64 KiB.")
    .openapi({ type: "object", additionalProperties: {}, example: { year: 2026, camera: "A" } });

/** Schema of metadata that users attach to a record, and get back unchanged. */
export const userMetadata = anyObject().superRefine(checkMetadata);

/** Ids in the examples of the OpenAPI document. They are well formed, and of no real resource. */
export const EXAMPLE_ID = {
  account: "acc_01KATN3V0F6Q8M2R5W7XJ9ZB4C",
  asset: "vid_01KATN4B7Y3D5E8GHJ1K2M6P9Q",
  image: "img_01KATN4C2R8S6T4V0W9X7Y5Z3A",
  segment: "seg_01KATN5D1B2C3D4E5F6G7H8J9K",
  job: "job_01KATN4BA0B1C2D3E4F5G6H7J8",
  key: "key_01KATN2M8N9P0Q1R2S3T4V5W6X",
  source: "src_01KATN6F3G4H5J6K7M8N9P0Q1R",
  upload: "upl_01KATN7H5J6K7M8N9P0Q1R2S3T",
  watch: "wat_01KATN8K7M8N9P0Q1R2S3T4V5W",
} as const;

/** Signed part of a media URL in the examples. It opens nothing. */
const TOKEN = "AZq3xK7tP0mWb2nYc5RvEQ";

/** When an operation that adds to D1 is refused (docs/limits.md). */
export const RECORDS_FULL = "The account's bytes of records are used up.";
export const STORAGE_FULL = "The account's storage or its bytes of records are used up.";

/** Adds a description and an example to a schema, for the OpenAPI document. */
function describe<Schema extends z.ZodType>(schema: Schema, description: string, example: unknown) {
  const described = schema.describe(description);
  return example === undefined ? described : described.openapi({ example });
}

export const text = (description: string, example?: string | null) =>
  describe(z.string(), description, example);
export const int = (description: string, example?: number | null) =>
  describe(z.int(), description, example);
export const number = (description: string, example?: number | null) =>
  describe(z.number(), description, example);
export const flag = (description: string, example?: boolean | null) =>
  describe(z.boolean(), description, example);
/** Schema of a share, or of a probability: from 0 to 1. */
export const share = (description: string, example?: number) =>
  describe(z.number().min(0).max(1), description, example);
export const oneOf = <const Names extends readonly string[]>(
  names: Names,
  description: string,
  example?: Names[number],
) => describe(z.enum(names), description, example);

export const list = <Item extends z.ZodType>(
  item: Item,
  description: string,
  example?: unknown[],
) => describe(z.array(item), description, example);

/** Schema of a media URL that ends in the name of a file. */
export function mediaUrl(description: string, file: string) {
  return describe(z.url(), description, `https://search.your-site.dev/media/${TOKEN}/${file}`);
}

/** Schemas of the ends of a part of a video, in seconds. */
export function timeRange(start: string, end: string) {
  const seconds = (description: string, min: number) =>
    z.number().min(min).max(LIMITS.videoSeconds).default(min).describe(description);
  return [seconds(start, 0), seconds(end, -1)] as const;
}

export function time(description: string) {
  return z.iso
    .datetime()
    .describe(`${description} RFC 3339, UTC.`)
    .openapi({ example: "2026-11-24T09:30:00.000Z" });
}

/** Schema of an id. `name` is that of its example. */
export function idField(name: keyof typeof EXAMPLE_ID, description: string) {
  return z.string().describe(description).openapi({ example: EXAMPLE_ID[name] });
}

/** Schema of the answer to the deletion of a record: its id, as `watch_id`. */
export function deletedRecord(name: "watch" | "source"): z.ZodType {
  const id = idField(name, `Id of the ${name}.`);
  return z
    .object({ [`${name}_id`]: id, deleted: z.literal(true).describe("Always true.") })
    .openapi(name === "watch" ? "DeletedWatch" : "DeletedSource", {
      description: `The ${name} that was deleted.`,
    });
}

export const indexName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "1 to 64 letters, digits, dots, dashes, underscores")
  .describe("Name of the index.");

const PATH_PARAMS: Readonly<Record<string, z.ZodType>> = {
  index_name: indexName.openapi({ example: "holidays" }),
  video_id: idField("asset", "Id of the video."),
  image_id: idField("image", "Id of the image."),
  watch_id: idField("watch", "Id of the watch."),
  source_id: idField("source", "Id of the source."),
  upload_id: idField("upload", "Id of the upload."),
  job_id: idField("job", "Id of the job."),
  key_id: idField("key", "Id of the API key."),
};

/** Returns the schema of the parameters of a path such as `/index/{index_name}`. */
export function pathParams(path: string): z.ZodObject {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  return z.object(Object.fromEntries(names.map((name) => [name, PATH_PARAMS[name]!])));
}

export const jsonObject = z
  .record(z.string(), z.unknown())
  .describe("JSON object that the user attached. Searches can filter by its fields.")
  .openapi({ example: { year: 2026, camera: "A" } });

/** Schema of the state of a calibration. docs/models.md says what it means. */
export const calibrationField = z
  .enum(CALIBRATION_STATES)
  .describe(
    "`fitted`: scores were calibrated on this deployment's embedding models. `borrowed`: on " +
      "others, so they order segments, but are less exact as probabilities (docs/models.md).",
  )
  .openapi({ example: "fitted" });

export const countField = (description: string, example = 1) => int(description, example);

/**
 * Schema of a named record, or null. `nullable()` would make the named component itself nullable,
 * wherever it is used.
 */
export function orNull<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  example?: null,
) {
  return describe(z.union([schema, z.null()]), description, example);
}

export const failureRecord = z
  .object({
    code: text("Code to compare with. docs/formats.md lists them.", "unsupported_codec"),
    message: text(
      "What is wrong and what to do, in a sentence.",
      "The video is in a format that can't be decoded: convert it to H.264.",
    ),
  })
  .openapi("Failure", { description: "What went wrong, and what to do." });

export const stateCounts = z
  .object({
    queued: countField("Assets that wait for their ingest.", 0),
    processing: countField("Assets that are being ingested.", 1),
    ready: countField("Assets that can be searched.", 12),
    failed: countField("Assets whose ingest failed. Each has an `error`.", 0),
  })
  .describe("Number of assets by state.");

export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

export function isoTimeOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : isoTime(epochMs);
}

/** Returns the type and the id, the id also as `video_id` or `image_id`. */
export function assetIdFields<Id extends string | null>(assetType: AssetType, id: Id) {
  const isVideo = assetType === "video";
  return {
    asset_type: assetType,
    video_id: isVideo ? id : null,
    image_id: isVideo ? null : id,
  };
}
