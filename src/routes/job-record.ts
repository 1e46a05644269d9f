import { z } from "@hono/zod-openapi";
import type { Job } from "../types.ts";
import { isoTime } from "./index-record.ts";

export const jobRecord = z
  .object({
    job_id: z.string(),
    kind: z.string(),
    state: z.enum(["queued", "running", "succeeded", "failed", "cancelled"]),
    progress: z.number().min(0).max(1),
    result: z.unknown(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .openapi("Job");

export const queuedJob = z
  .object({ job_id: z.string(), state: z.literal("queued") })
  .openapi("QueuedJob");

export function toJobRecord(job: Job): z.input<typeof jobRecord> {
  return {
    job_id: job.jobId,
    kind: job.kind,
    state: job.state,
    progress: job.progress,
    result: job.kind === "search" ? null : job.result, // too large for a list
    error: job.error,
    created_at: isoTime(job.createdAt),
    updated_at: isoTime(job.updatedAt),
  };
}
