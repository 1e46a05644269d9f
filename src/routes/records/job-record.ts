import { z } from "@hono/zod-openapi";
import type { Job } from "../../types.ts";
import { EXAMPLE_ID, failureRecord, idField, orNull, time } from "./fields.ts";
import { isoTime } from "./index-record.ts";

const jobId = idField("job", "Id of the job, whose record stays for seven days after its end.");

export const jobState = z
  .enum(["queued", "running", "succeeded", "failed", "cancelled"])
  .describe("State of the job. The last three are final.")
  .openapi({ example: "succeeded" });

export const jobRecord = z
  .object({
    job_id: jobId,
    kind: z
      .string()
      .describe("Kind of work, such as `ingest`, `search`, `import`, `traverse` or `transcript`.")
      .openapi({ example: "ingest" }),
    index_name: z
      .string()
      .nullable()
      .describe("Name of the index that the job is about; null once it is deleted.")
      .openapi({ example: "holidays" }),
    asset_id: idField(
      "asset",
      "Id of the asset that the job is about; null if it isn't one asset.",
    ).nullable(),
    asset_title: z
      .string()
      .nullable()
      .describe("Title of that asset; null once it is deleted.")
      .openapi({ example: "Harbour at dawn.mp4" }),
    state: jobState,
    progress: z
      .number()
      .min(0)
      .max(1)
      .describe("Share of the work that is done, from 0 to 1.")
      .openapi({ example: 1 }),
    result: z
      .unknown()
      .describe(
        "Result by `kind`; null before the end. Lists leave out the result of a search: it is a " +
          "`SearchResult`, and `GET /jobs/{job_id}` returns it. An import lists each of its `items`.",
      )
      .openapi({ example: { asset_id: EXAMPLE_ID.asset } }),
    error: orNull(
      failureRecord,
      "Why the job failed, or for which limit it waits; else null.",
    ).openapi({
      example: null,
    }),
    created_at: time("Creation of the job."),
    updated_at: time("Last change of the record."),
  })
  .openapi("Job", { description: "Work in the background." });

export const queuedJob = z
  .object({ job_id: jobId, state: z.literal("queued").describe("State of the new job.") })
  .openapi("QueuedJob", { description: "A job that was queued: `GET /jobs/{job_id}` follows it." });

export function toJobRecord(job: Job): z.input<typeof jobRecord> {
  return {
    job_id: job.jobId,
    kind: job.kind,
    index_name: job.indexName,
    asset_id: job.assetId,
    asset_title: job.assetTitle,
    state: job.state,
    progress: job.progress,
    result: job.kind === "search" ? null : job.result, // too large for a list
    error: job.error,
    created_at: isoTime(job.createdAt),
    updated_at: isoTime(job.updatedAt),
  };
}
