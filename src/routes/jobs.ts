import { z } from "@hono/zod-openapi";
import { type KeptHits, readHits } from "../search/kept-hits.ts";
import { listJobItems } from "../store/imports.ts";
import { cancelJob, listJobs, requireJob } from "../store/jobs.ts";
import type { Job } from "../types.ts";
import { addEndpoint, type Context, createRouter } from "./endpoint.ts";
import { jobRecord, toJobRecord } from "./job-record.ts";
import { toItemRecord } from "./item-record.ts";
import { mediaUrls } from "./media-url.ts";
import { nextCursor, pageOf, pageQuery, pageRequest } from "./page.ts";
import { toSearchResult } from "./search-result.ts";

export const jobRoutes = createRouter("Jobs");

addEndpoint(
  jobRoutes,
  {
    method: "get",
    path: "/jobs",
    summary: "List Jobs",
    scope: "read",
    query: pageQuery,
    response: pageOf("jobs", jobRecord),
  },
  async (c, { query }) => {
    const page = await listJobs(c.env.DB, c.get("caller").accountId, pageRequest(query));
    return {
      jobs: page.items.map(toJobRecord),
      total: page.total,
      next_cursor: nextCursor(page),
    };
  },
);

addEndpoint(
  jobRoutes,
  {
    method: "get",
    path: "/jobs/{job_id}",
    summary: "Get Job",
    scope: "read",
    params: z.object({ job_id: z.string() }),
    response: jobRecord,
  },
  async (c, { params }) => {
    const job = await requireJob(c.env.DB, c.get("caller").accountId, params.job_id);
    return { ...toJobRecord(job), result: await resultOf(c, job) };
  },
);

addEndpoint(
  jobRoutes,
  {
    method: "delete",
    path: "/jobs/{job_id}",
    summary: "Cancel Job",
    scope: "write",
    params: z.object({ job_id: z.string() }),
    response: jobRecord,
  },
  async (c, { params }) => {
    const { accountId } = c.get("caller");
    await cancelJob(c.env.DB, await requireJob(c.env.DB, accountId, params.job_id));
    return toJobRecord(await requireJob(c.env.DB, accountId, params.job_id));
  },
);

/** Of a search, its segments as they are now; of an import, its items; of other jobs, what they say. */
async function resultOf(c: Context, { jobId, kind, result, indexId }: Job): Promise<unknown> {
  if (kind === "import") {
    const items = await listJobItems(c.env.DB, jobId);
    return { ...(result as object | null), items: items.map(toItemRecord) };
  }
  if (kind !== "search" || result === null) return result;
  const kept = result as KeptHits;
  const hits = await readHits(c.env.DB, indexId!, kept);
  return toSearchResult(hits, kept, mediaUrls(c));
}
