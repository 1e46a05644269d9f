import { mapRecord } from "../../field-names.ts";
import {
  EXAMPLE_ID,
  failureRecord,
  idField,
  oneOf,
  orNull,
  share,
  text,
  time,
} from "../../http/fields.ts";
import * as z from "../../http/zod.ts";
import { newId } from "../../ids.ts";
import type { JobMessage } from "../../messages.ts";
import { startJob } from "../../store/d1/jobs.ts";
import type { Job } from "../../types.ts";

const jobId = idField("job", "Id of the job, whose record stays for seven days after its end.");

export const jobState = oneOf(
  ["queued", "running", "succeeded", "failed", "cancelled"],
  "State of the job. The last three are final.",
  "succeeded",
);

export const jobRecord = z
  .object({
    job_id: jobId,
    kind: text("Kind of work, such as `ingest`, `search`, `import` or `traverse`.", "ingest"),
    index_name: text("Name of the job's index; null once that is deleted.", "holidays").nullable(),
    asset_id: idField("asset", "Id of the job's asset; null unless it has just one.").nullable(),
    asset_title: text("Title of the asset; null once deleted.", "Harbour at dawn.mp4").nullable(),
    state: jobState,
    progress: share("Share of the work that is done, from 0 to 1.", 1),
    result: z
      .unknown()
      .describe(
        "Result by `kind`; null before the end. Lists leave out the result of a search or a " +
          "preview: `GET /jobs/{job_id}` returns it, that of a search as a `SearchResult`. An import lists each of its `items`.",
      )
      .openapi({ example: { asset_id: EXAMPLE_ID.asset } }),
    error: orNull(
      failureRecord,
      "Why the job failed, or for which limit it waits; else null.",
      null,
    ),
    created_at: time("Creation of the job."),
    updated_at: time("Last change of the record."),
  })
  .openapi("Job", { description: "Work in the background." });

export const queuedJob = z
  .object({ job_id: jobId, state: z.literal("queued").describe("State of the new job.") })
  .openapi("QueuedJob", { description: "A job that was queued: `GET /jobs/{job_id}` follows it." });

/** Converts a job, without results of searches, which are too large for a list. */
export function toJobRecord(job: Job): z.input<typeof jobRecord> {
  const isSearch = job.kind === "search" || job.kind === "preview_watch";
  return mapRecord(jobRecord, job, { result: isSearch ? null : job.result });
}

type NewJob<Message extends JobMessage = JobMessage> = Message extends JobMessage
  ? Omit<Message, "jobId">
  : never;

/** Starts a job and returns its record. Throws as `startJob` does. */
export async function queueJob(env: Env, job: NewJob, quota?: "none") {
  const now = Date.now();
  const jobId = newId("job", now);
  await startJob(env, { ...job, jobId }, now, quota);
  return { job_id: jobId, state: "queued" as const };
}
