import { z } from "@hono/zod-openapi";
import { CALIBRATION_STATES } from "../../search/calibration.ts";

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
export const EXAMPLE_TOKEN = "AZq3xK7tP0mWb2nYc5RvEQ";

/** When an operation that adds to D1 is refused (docs/accounts.md). */
export const RECORDS_FULL = "The account's bytes of records are used up.";
export const STORAGE_FULL = "The account's storage or its bytes of records are used up.";

/** Schema of a moment in time. */
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

/** Schema of the state of a calibration. docs/calibration.md says what it means. */
export const calibrationField = z
  .enum(CALIBRATION_STATES)
  .describe(
    "`fitted`: scores were calibrated on this deployment's embedding models. `borrowed`: on " +
      "others, so they order segments, but are less exact as probabilities (docs/calibration.md). " +
      "`own`: they were fitted to the judgments of the index (docs/judgments.md).",
  )
  .openapi({ example: "fitted" });

/** Schema of a number of things. */
export function countField(description: string, example = 1) {
  return z.int().describe(description).openapi({ example });
}

/**
 * Schema of a named record, or null. `nullable()` would make the named component itself nullable,
 * wherever it is used.
 */
export function orNull<Schema extends z.ZodType>(schema: Schema, description: string) {
  return z.union([schema, z.null()]).describe(description);
}

/** What went wrong with an asset, a job or an upload. */
export const failureRecord = z
  .object({
    code: z
      .string()
      .describe("Code to compare with. docs/ingest-errors.md lists them.")
      .openapi({ example: "unsupported_codec" }),
    message: z
      .string()
      .describe("What is wrong and what to do, in a sentence.")
      .openapi({ example: "The video is in a format that can't be decoded: convert it to H.264." }),
  })
  .openapi("Failure", { description: "What went wrong, and what to do." });

/** Assets by state. */
export const stateCounts = z
  .object({
    queued: countField("Assets that wait for their ingest.", 0),
    processing: countField("Assets that are being ingested.", 1),
    ready: countField("Assets that can be searched.", 12),
    failed: countField("Assets whose ingest failed. Each has an `error`.", 0),
  })
  .describe("Number of assets by state.");
