import type { LocalEnv } from "../../local/env.ts";
import worker from "../../local/worker.ts";
import { accountId, newId, type IndexId } from "../../src/ids.ts";
import { requireIndex } from "../../src/store/d1/indices.ts";
import { indexDatabase } from "../../src/store/index-database/index-database.ts";
import { sql } from "../../src/store/sql.ts";
import { CallCounts } from "../../tools/call-counts.ts";

export * from "../../local/worker.ts";

/** Calls of each message of a job, in the order in which they ended. */
const messages: { queries: number; subrequests: number; seconds: number }[] = [];
const DIMENSIONS = { text: 1024, image: 768 };
const CONCURRENCY = 32;

/**
 * The local Worker, which counts the calls of each message of a job, with two more paths: `POST
 * /load?account=NAME&index=NAME&from=N&count=N` stores images as an ingest does, without analysis,
 * and `/messages` returns the counts.
 */
export default {
  ...worker,
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/messages") return Response.json(messages);
    if (pathname !== "/load") return worker.fetch(request, env, ctx);
    const account = await accountId(searchParams.get("account") ?? "");
    const { indexId } = await requireIndex(env.DB, account, searchParams.get("index") ?? "");
    const [from, count] = ["from", "count"].map((name) => Number(searchParams.get(name)));
    await load(env, account, indexId, from!, count!);
    return new Response(null, { status: 204 });
  },
  async queue(batch, env) {
    const counts = new CallCounts(env);
    const startedAt = Date.now();
    await counts.during(() => worker.queue(batch, counts.env as Env & LocalEnv));
    if (batch.queue !== "sightline-jobs") return;
    const { queries, subrequests } = counts;
    messages.push({ queries, subrequests, seconds: (Date.now() - startedAt) / 1000 });
  },
} satisfies ExportedHandler<Env & LocalEnv>;

/** Stores images, each with a row, a segment, two vectors and two objects. */
async function load(env: Env, account: string, indexId: IndexId, from: number, count: number) {
  const now = Date.now();
  const images = Array.from({ length: count }, (_, i) => ({
    assetId: newId("img", now + from + i),
    segmentId: `seg_${crypto.randomUUID()}`,
    jobId: newId("job", now),
  }));
  const rows = JSON.stringify(images);
  await env.DB.prepare(
    `INSERT INTO assets (asset_id, index_id, shard, account_id, asset_type, title, state, source,
       content_type, size_bytes, segments, searchable, job_id, created_at, updated_at)
     SELECT value ->> 'assetId', ?2, 0, ?3, 'image', 'image', 'ready', '{}', 'image/jpeg', 1, 1, 1,
       value ->> 'jobId', ?4, ?4 FROM json_each(?1)`,
  )
    .bind(rows, indexId, account, now)
    .run();
  await indexDatabase(env, { indexId, shard: 0 }).batch([
    sql`INSERT INTO assets (asset_id, asset_type, searchable_at)
      SELECT value ->> 'assetId', 'image', 1 FROM json_each(${rows})`,
    sql`INSERT INTO segments (segment_id, asset_key, position, keyframe_ms, caption, vectors)
      SELECT value ->> 'segmentId', asset_key, 0, 0, 'a boat on a river', 9
      FROM json_each(${rows}) JOIN assets ON asset_id = value ->> 'assetId'`,
  ]);
  const vectorsOf = (kind: string, dimensions: number) =>
    images.map(({ segmentId, assetId }) => ({
      id: `${segmentId}:${kind}`,
      namespace: indexId,
      values: Array.from({ length: dimensions }, () => Math.random() - 0.5),
      metadata: { asset_id: assetId, asset_type: "image", kind },
    }));
  await env.TEXT_VECTORS_1.upsert(vectorsOf("caption", DIMENSIONS.text));
  await env.IMAGE_VECTORS_1.upsert(vectorsOf("image", DIMENSIONS.image));
  for (let i = 0; i < count; i += CONCURRENCY) {
    await Promise.all(
      images.slice(i, i + CONCURRENCY).flatMap(({ assetId }) => {
        const prefix = `${account}/${indexId}/${assetId}/`;
        return ["source", "keyframes/0.jpg"].map((name) => env.MEDIA.put(prefix + name, "x"));
      }),
    );
  }
}
