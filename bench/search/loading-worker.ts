import type { LocalEnv } from "../../local/env.ts";
import worker from "../../local/worker.ts";
import { INGEST, MODELS } from "../../src/config.ts";
import { accountId, type AssetId, type IndexId, newId, ours } from "../../src/ids.ts";
import { embed } from "../../src/ingest/embed.ts";
import { insertAsset, showState, updateFacts } from "../../src/store/assets.ts";
import { requireIndex } from "../../src/store/indices.ts";
import { setSpokenWords, upsertSegments } from "../../src/store/segments.ts";
import { upsertVectors } from "../../src/store/vectors.ts";
import { indexWords } from "../../src/store/words.ts";
import type { Asset, MediaIndexRow, Segment } from "../../src/types.ts";
import { type Batch, decodeBatch, rowsOf } from "./batch.ts";
import type { Passage } from "./corpus.ts";

export * from "../../local/worker.ts";

const SEGMENT_MS = 5000;
const PICTURE_DIMENSIONS = 768; // as `local/wrangler.toml` makes the space
const WRITES_AT_ONCE = 32;

/**
 * The local Worker with one more path, `POST /load?account=NAME&index=NAME`: a batch of segments, stored as
 * ingest stores them, without anyone having looked or listened. A video's segments come in one batch. With
 * `embed=yes` their words get vectors here, as ingest makes them, in place of the batch's. All other requests with `pictures=no` in the query are answered as by a deployment without a picture space.
 */
export default {
  ...worker,
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname !== "/load") {
      const isBlind = searchParams.get("pictures") === "no";
      return worker.fetch(request, isBlind ? { ...env, PICTURE_EMBEDDINGS_URL: "" } : env, ctx);
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
  { passages, texts, pictures }: Batch,
  isEmbedded: boolean,
): Promise<void> {
  const { DB, TEXT_VECTORS, PICTURE_VECTORS } = env;
  const segments = passages.map((passage) => toSegment(index.indexId, passage));
  const videos = Map.groupBy(segments, ({ assetId }) => assetId);
  await each([...videos.keys()], (assetId) => insertAsset(DB, toAsset(index, assetId)));
  await upsertSegments(DB, segments);
  await describeSegments(DB, segments);
  await setSpokenWords(DB, segments);
  if (isEmbedded) {
    const blind = { ...env, PICTURE_EMBEDDINGS_URL: "" };
    for (const [assetId, { length }] of videos) {
      for (let part = 0; part * INGEST.partSegments < length; part++) {
        await embed(blind, toAsset(index, assetId), part);
      }
    }
    await finish(env, videos);
    return;
  }
  const vectorsOf = (all: Float32Array, kind: "caption" | "picture", dimensions: number) =>
    rowsOf(all, segments.length).map((row, at) => {
      const values = Array.from({ length: dimensions }, (_, i) => row[i] ?? 0);
      return { segment: segments[at]!, kind, values, model: kind };
    });
  const { dimensions } = MODELS.embedText;
  await upsertVectors(TEXT_VECTORS, vectorsOf(texts, "caption", dimensions), "video");
  await upsertVectors(PICTURE_VECTORS, vectorsOf(pictures, "picture", PICTURE_DIMENSIONS), "video");
  await indexWords(DB, segments);
  await finish(env, videos);
}

async function finish({ DB }: Env, videos: ReadonlyMap<AssetId, Segment[]>): Promise<void> {
  await each([...videos], async ([assetId, { length }]) => {
    await updateFacts(DB, assetId, { durationMs: length * SEGMENT_MS, segments: length });
    await showState(DB, assetId, { state: "ready", progress: 1, error: null, revision: 1 });
  });
}

/** As `describeSegment` does, but many at once: it would take an hour. */
async function describeSegments(db: D1Database, segments: Segment[]): Promise<void> {
  await db
    .prepare(
      `UPDATE segments SET caption = value ->> 'caption', on_screen_text = value ->> 'onScreenText',
         described_at = ?2 FROM json_each(?1) WHERE segment_id = value ->> 'segmentId'`,
    )
    .bind(JSON.stringify(segments), Date.now())
    .run();
}

async function each<Item>(items: Item[], write: (item: Item) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < items.length; at += WRITES_AT_ONCE) {
    await Promise.all(items.slice(at, at + WRITES_AT_ONCE).map(write));
  }
}

function toSegment(indexId: IndexId, passage: Passage): Segment {
  const startMs = passage.position * SEGMENT_MS;
  return {
    ...passage,
    segmentId: ours(passage.segmentId),
    assetId: ours(passage.assetId),
    indexId,
    startMs,
    endMs: startMs + SEGMENT_MS,
    keyframeMs: startMs,
    captionModel: null,
    labels: [],
    boxes: [],
    problem: null,
    described: true,
  };
}

function toAsset({ indexId, accountId, name }: MediaIndexRow, assetId: AssetId): Asset {
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
    transcriptJob: null,
    createdAt: now,
    updatedAt: now,
  };
}
