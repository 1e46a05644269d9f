import { type Context, createMediaUrlSigner } from "../http/context.ts";
import { addEndpoint, createRouter } from "../http/endpoint.ts";
import { assetIdFields } from "../http/fields.ts";
import { pageOf, pageQuery, pageRecord, pageRequest } from "../http/pagination.ts";
import { loadResults, type StoredResults } from "../search/results.ts";
import type { StoredPreview } from "../search/watches/match-asset.ts";
import { type JobItem, listJobItems } from "../store/d1/imports.ts";
import { cancelJob, listJobs, requireJob } from "../store/d1/jobs.ts";
import { listShards } from "../store/d1/shards.ts";
import type { Job } from "../types.ts";
import { withoutCredentials } from "../url-credentials.ts";
import { jobRecord, toJobRecord } from "./records/job-record.ts";
import { toHitRecord, toSearchResult } from "./records/search-result.ts";

export const jobRoutes = createRouter("Jobs");

addEndpoint(jobRoutes, "GET /jobs", {
  operationId: "listJobs",
  summary: "List jobs",
  description:
    "Lists the jobs of the account, newest first. A job is deleted seven days after its end, but " +
    "the last sync of a source and the ingest of an asset that can be retried stay.",
  query: pageQuery,
  response: pageOf("jobs", jobRecord),
  async handle(c, { query }) {
    const page = await listJobs(c.env.DB, c.get("caller").accountId, pageRequest(query));
    return pageRecord("jobs", page, toJobRecord);
  },
});

addEndpoint(jobRoutes, "GET /jobs/{job_id}", {
  operationId: "getJob",
  summary: "Get a job",
  description:
    "Returns the state, the progress and, at the end, the result of a job. Seven days after its " +
    "end a job is deleted: 404.",
  response: jobRecord,
  async handle(c, { params }) {
    const job = await requireJob(c.env.DB, c.get("caller").accountId, params.job_id);
    return { ...toJobRecord(job), result: await getResult(c, job) };
  },
});

addEndpoint(jobRoutes, "DELETE /jobs/{job_id}", {
  operationId: "cancelJob",
  summary: "Cancel a job",
  description:
    "Cancels a search, an import (also of an archive), a traversal or the replacement of a " +
    "transcript that is queued or running. What it has done stays. An ingest is ended by " +
    "deleting its asset.",
  errors: { conflict: "The job has ended, or is of a kind that can't be cancelled." },
  response: jobRecord,
  async handle(c, { params }) {
    const { accountId } = c.get("caller");
    await cancelJob(c.env.DB, await requireJob(c.env.DB, accountId, params.job_id));
    return toJobRecord(await requireJob(c.env.DB, accountId, params.job_id));
  },
});

/** Result of a job: current segments, an import's items, or the stored result. */
async function getResult(c: Context, { jobId, kind, result, indexId }: Job): Promise<unknown> {
  if (kind === "import") {
    const items = await listJobItems(c.env.DB, jobId);
    return { ...(result as object | null), items: items.map(toItemRecord) };
  }
  if (result === null || (kind !== "search" && kind !== "preview_watch")) return result;
  const { accountId } = c.get("caller");
  const shards = await listShards(c.env.DB, indexId!);
  const sign = createMediaUrlSigner(c);
  const load = (name: string, hits: StoredResults["hits"]) =>
    loadResults(c.env, { accountId, indexId: indexId!, name, shards }, { hits });
  if (kind === "preview_watch") {
    const { best, nearest_threshold, ...preview } = result as StoredPreview;
    const [bestHits, nearestHits] = await Promise.all(
      [best, nearest_threshold].map(async (hits) => {
        const loaded = await load(preview.index_name, hits);
        return Promise.all(loaded.map((hit) => toHitRecord(hit, sign)));
      }),
    );
    return { ...preview, best: bestHits, nearest_threshold: nearestHits };
  }
  const stored = result as StoredResults;
  return toSearchResult(await load(stored.indexName, stored.hits), stored, sign);
}

function toItemRecord(item: JobItem) {
  return {
    platform_id: withoutCredentials(item.platformId),
    title: withoutCredentials(item.title),
    url: item.url && withoutCredentials(item.url),
    outcome: item.outcome,
    ...assetIdFields(item.assetType, item.assetId),
    state: item.state,
    error: item.error,
  };
}
