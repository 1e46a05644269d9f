import { z } from "@hono/zod-openapi";
import { listJobs, requireJob } from "../store/jobs.ts";
import { addEndpoint, createRouter } from "./endpoint.ts";
import { jobRecord, toJobRecord } from "./job-record.ts";
import { nextCursor, pageOf, pageQuery, pageRequest } from "./page.ts";

export const jobRoutes = createRouter();

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
  async (c, { params }) =>
    toJobRecord(await requireJob(c.env.DB, c.get("caller").accountId, params.job_id)),
);
