import type { z } from "@hono/zod-openapi";
import { requireCallerIndex } from "../http/caller-records.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { countWork } from "../http/metering.ts";
import { nextCursor, pageOf, pageQuery, pageRequest } from "../http/pagination.ts";
import { createMediaUrlSigner } from "../http/signed-url.ts";
import { newId, type WatchId } from "../ids.ts";
import { exampleFromStored } from "../search/example.ts";
import { loadResults } from "../search/stored-results.ts";
import { requireWatch, type WatchRequest } from "../store/d1/watches.ts";
import { indexDatabases } from "../store/index-database/index-database.ts";
import { countMatches, listMatches } from "../store/index-database/matches.ts";
import { startJob } from "../store/job-queue.ts";
import { toPage } from "../store/sql.ts";
import type { MediaIndexRow } from "../types.ts";
import { RECORDS_FULL } from "./records/fields.ts";
import { indexParams, isoTime } from "./records/index-record.ts";
import { queuedJob } from "./records/job-record.ts";
import { toHitRecord } from "./records/segment-record.ts";
import { matchRecord, previewBody, toWatchRequest, watchParams } from "./records/watch-record.ts";
import { requireSearchableIndex } from "./searchable-index.ts";

/** Routes of what watches have matched, and would have. */
export const watchMatchRoutes = createRouter("Watches");

addEndpoint(
  watchMatchRoutes,
  {
    method: "get",
    path: "/index/{index_name}/watches/{watch_id}/matches",
    operationId: "listWatchMatches",
    summary: "List the matches of a watch",
    description: "Lists the segments that have matched, those of the newest assets first.",
    scope: "read",
    params: watchParams,
    query: pageQuery,
    response: pageOf("matches", matchRecord),
  },
  listWatchMatches,
);

async function listWatchMatches(
  c: Context,
  { params, query }: Input<typeof watchParams, typeof pageQuery>,
) {
  const index = await requireCallerIndex(c, params.index_name);
  const watch = await requireWatch(c.env.DB, index.indexId, params.watch_id);
  const databases = indexDatabases(c.env, index);
  const { limit, after } = pageRequest(query);
  const [rows, counts] = await Promise.all([
    listMatches(databases, watch.watchId, after, limit + 1),
    countMatches(databases, [watch.watchId]),
  ]);
  const total = counts.get(watch.watchId) ?? 0;
  const page = toPage(rows, total, limit, ({ segmentId }) => segmentId);
  const hits = await loadResults(c.env, index, { hits: page.items.map(toStoredHit) });
  const matchedAt = new Map(page.items.map((match) => [match.segmentId, match.matchedAt]));
  const sign = createMediaUrlSigner(c);
  const matches = await Promise.all(
    hits.map(async (hit) => ({
      matched_at: isoTime(matchedAt.get(hit.segment.segmentId)!),
      score: hit.score,
      segment: await toHitRecord(hit, sign),
    })),
  );
  return { matches, total, next_cursor: nextCursor(page) };
}

type Row = Awaited<ReturnType<typeof listMatches>>[number];
type StoredHit = Parameters<typeof loadResults>[2]["hits"][number];

function toStoredHit({ segmentId, score, details }: Row, i: number): StoredHit {
  const { signals, evidence, timeRange, duplicates } = details as Pick<
    StoredHit,
    "signals" | "evidence" | "timeRange" | "duplicates"
  >;
  const found = { signals, evidence, timeRange, duplicates };
  const rank = i + 1;
  return { segmentId, rank, score, generalScore: score, ...found, boxes: null, mask: null };
}

const PREVIEW =
  "Starts a job that finds what the watch would have announced of the assets that are there. Its " +
  "result has `matches_by_day`, the ten `best` segments and the ten with scores `nearest_threshold`, " +
  "and for each of five `thresholds` the number of matches and the share that is expected to be " +
  "right, with its interval.";

addEndpoint(
  watchMatchRoutes,
  {
    method: "post",
    path: "/index/{index_name}/watches/preview",
    operationId: "previewNewWatch",
    summary: "Preview a watch before it is created",
    description: `${PREVIEW} To preview an image, create the watch with \`paused\` first.`,
    errors: { account_full: RECORDS_FULL },
    scope: "write",
    params: indexParams,
    body: previewBody,
    examples: { words: { summary: "Words", value: { query: "red truck at the gate" } } },
    response: queuedJob,
  },
  previewNewWatch,
);

async function previewNewWatch(
  c: Context,
  { params, body }: Input<typeof indexParams, z.ZodObject, typeof previewBody>,
) {
  const index = await requireSearchableIndex(c, params.index_name);
  const request = toWatchRequest(body, false);
  if (request.similarTo !== null) await exampleFromStored(c.env, index, request.similarTo);
  return startPreview(c, index, request, body.min_probability, null);
}

addEndpoint(
  watchMatchRoutes,
  {
    method: "post",
    path: "/index/{index_name}/watches/{watch_id}/preview",
    operationId: "previewWatch",
    summary: "Preview a watch",
    description: PREVIEW,
    errors: { account_full: RECORDS_FULL },
    scope: "write",
    params: watchParams,
    response: queuedJob,
  },
  previewWatch,
);

async function previewWatch(c: Context, { params }: Input<typeof watchParams>) {
  const index = await requireSearchableIndex(c, params.index_name);
  const watch = await requireWatch(c.env.DB, index.indexId, params.watch_id);
  return startPreview(c, index, watch.request, watch.minProbability, watch.watchId);
}

async function startPreview(
  c: Context,
  { accountId, indexId, name: indexName }: MediaIndexRow,
  request: WatchRequest,
  minProbability: number,
  watchId: WatchId | null,
) {
  const now = Date.now();
  const jobId = newId("job", now);
  const ids = { jobId, accountId, indexId, indexName, watchId };
  const job = { kind: "preview_watch" as const, ...ids, minProbability, request: { ...request } };
  await startJob(c.env, job, now);
  countWork(c, "searches");
  return { job_id: jobId, state: "queued" as const };
}
