import type { LocalEnv } from "../../local/env.ts";
import worker from "../../local/worker.ts";
import { INGEST, MODELS } from "../../src/config.ts";
import { type AssetId, type IndexId, accountId, newId, trustedId } from "../../src/ids.ts";
import { embed } from "../../src/ingest/steps/embed.ts";
import { writeAssetState } from "../../src/store/asset-changes.ts";
import { insertAsset, updateProperties } from "../../src/store/d1/assets.ts";
import { requireIndex } from "../../src/store/d1/indices.ts";
import { type IndexDb, indexDatabase } from "../../src/store/index-database/index-database.ts";
import { upsertSegments } from "../../src/store/index-database/segments.ts";
import { inChunks, sql } from "../../src/store/sql.ts";
import { updateTranscripts } from "../../src/store/transcript-replacement.ts";
import { vectorPair } from "../../src/store/vectorize/vector-pairs.ts";
import { upsertVectors } from "../../src/store/vectorize/vectors.ts";
import type { Asset, MediaIndexRow, Segment } from "../../src/types.ts";
import {
  type SegmentBatch,
  type SegmentFields,
  decodeBatch,
  splitRows,
} from "../../tools/segment-batch.ts";

export * from "../../local/worker.ts";

const SEGMENT_MS = 5000;
/** Dimensions of `IMAGE_VECTORS_1` in local/wrangler.toml. */
const IMAGE_DIMENSIONS = 768;
const WRITE_CONCURRENCY = 32;

/**
 * The local Worker with one more path, `POST /load?account=NAME&index=NAME`, which stores a batch
 * of segments as ingest does, without analysis. All segments of a video come in one batch. With
 * `embed=yes` their text is embedded here, as in ingest, and the batch's vectors are ignored. Other
 * requests with `images=no` in the query string are answered as without image embeddings. `/empty`
 * does nothing.
 */
export default {
  ...worker,
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/empty") return new Response("{}");
    if (pathname !== "/load") {
      const isWithoutImages = searchParams.get("images") === "no";
      return worker.fetch(
        request,
        isWithoutImages ? { ...env, IMAGE_EMBEDDINGS_URL: "" } : env,
        ctx,
      );
    }
    const account = await accountId(searchParams.get("account") ?? "");
    const index = await requireIndex(env.DB, account, searchParams.get("index") ?? "");
    const batch = decodeBatch(await request.arrayBuffer());
    await load(env, index, batch, searchParams.get("embed") === "yes");
    return new Response(null, { status: 204 });
  },
} satisfies ExportedHandler<Env & LocalEnv>;

async function load(
  env: Env,
  index: MediaIndexRow,
  { segments: fields, textVectors, imageVectors }: SegmentBatch,
  embedsText: boolean,
): Promise<void> {
  const { DB } = env;
  const segments = fields.map((segmentFields) => toSegment(index.indexId, segmentFields));
  const videos = Map.groupBy(segments, ({ assetId }) => assetId);
  await writeEach([...videos.keys()], (assetId) => insertAsset(DB, toAsset(index, assetId)));
  const db = indexDatabase(env, { ...index, shard: 0 });
  await writeEach([...videos], async ([assetId, ofVideo]) => {
    await upsertSegments(db, { assetId, assetType: "video" }, ofVideo);
    await updateTranscripts(db, { assetId, transcriptRevision: 0 }, ofVideo, null);
  });
  await describeSegments(db, segments);
  if (embedsText) {
    const envWithoutImages = { ...env, IMAGE_EMBEDDINGS_URL: "" };
    for (const [assetId, { length }] of videos) {
      for (let part = 0; part * INGEST.segmentsPerPart < length; part++) {
        await embed(envWithoutImages, toAsset(index, assetId), part);
      }
    }
    await finishAssets(env, index, videos);
    return;
  }
  const vectorsOf = (matrix: Float32Array, kind: "caption" | "image", dimensions: number) =>
    splitRows(matrix, segments.length).map((row, at) => {
      const values = Array.from({ length: dimensions }, (_, i) => row[i] ?? 0);
      return { segment: segments[at]!, kind, values, model: kind };
    });
  const { dimensions } = MODELS.embedText;
  const { text, image } = vectorPair(env, { vectorPair: 1, indexId: index.indexId });
  await upsertVectors(text, vectorsOf(textVectors, "caption", dimensions), "video");
  await upsertVectors(image, vectorsOf(imageVectors, "image", IMAGE_DIMENSIONS), "video");
  await finishAssets(env, index, videos);
}

async function finishAssets(
  env: Env,
  { indexId }: MediaIndexRow,
  videos: ReadonlyMap<AssetId, Segment[]>,
): Promise<void> {
  const ready = { state: "ready", progress: 1, error: null, revision: 1 } as const;
  await writeEach([...videos], async ([assetId, { length }]) => {
    const durationMs = length * SEGMENT_MS;
    await updateProperties(env.DB, assetId, { durationMs, segments: length });
    await writeAssetState(env, { indexId, assetId }, ready);
  });
}

/** Writes captions like `updateDescription`, in bulk: one by one would take an hour. */
async function describeSegments(db: IndexDb, segments: Segment[]): Promise<void> {
  const rows = segments.map(({ segmentId, caption, onScreenText }) => {
    return { segmentId, caption, onScreenText };
  });
  for (const chunk of inChunks(rows)) {
    await db.batch([
      sql`UPDATE segments SET caption = value ->> 'caption',
          on_screen_text = value ->> 'onScreenText', described_at = ${Date.now()}
        FROM json_each(${chunk}) WHERE segment_id = value ->> 'segmentId'`,
    ]);
  }
}

async function writeEach<Item>(
  items: Item[],
  write: (item: Item) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < items.length; at += WRITE_CONCURRENCY) {
    await Promise.all(items.slice(at, at + WRITE_CONCURRENCY).map(write));
  }
}

function toSegment(indexId: IndexId, fields: SegmentFields): Segment {
  const startMs = fields.position * SEGMENT_MS;
  return {
    ...fields,
    segmentId: trustedId(fields.segmentId),
    assetId: trustedId(fields.assetId),
    indexId,
    startMs,
    endMs: startMs + SEGMENT_MS,
    keyframeMs: startMs,
    captionModel: null,
    speechBefore: "",
    speechAfter: "",
    labels: [],
    boxes: [],
    error: null,
    described: true,
    language: null,
    hasKeyframe: true,
  };
}

function toAsset({ indexId, accountId, name, shards }: MediaIndexRow, assetId: AssetId): Asset {
  const now = Date.now();
  return {
    assetId,
    indexId,
    accountId,
    indexName: name,
    assetType: "video",
    title: `${assetId}.mp4`,
    state: "queued",
    progress: 0,
    error: null,
    warnings: [],
    source: { kind: "upload" },
    contentType: "video/mp4",
    sizeBytes: 0,
    sha256: null,
    width: null,
    height: null,
    durationMs: 0,
    fps: null,
    hasAudio: null,
    language: null,
    technical: {},
    metadata: {},
    keyframeMs: 0,
    segments: 0,
    jobId: newId("job", now),
    transcriptJobId: null,
    transcriptRevision: 0,
    ...shards[0]!,
    createdAt: now,
    updatedAt: now,
  };
}
