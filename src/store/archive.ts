import type { AssetId } from "../ids.ts";
import type { Asset } from "../types.ts";
import { ARCHIVE_FORMAT, type StoredArchive, storedArchive } from "./archive-record.ts";
import { getAsset } from "./assets.ts";
import { type IndexDb, indexDatabase } from "./index-database.ts";
import { archiveKey } from "./object-keys.ts";
import { ofAsset } from "./segments.ts";
import { parseColumns, prepare, sql } from "./sql.ts";
import { getCues, getTranscript } from "./transcripts.ts";

type Stores = Pick<Env, "DB" | "INDEX_DATABASE" | "MEDIA">;
type AssetRef = Pick<Asset, "accountId" | "indexId" | "assetId">;

/**
 * Writes the archive record of an asset, `asset.json` in R2, from its rows: all that rebuilding
 * them takes. D1 counts the changes of what is in it, and which of them it has; `finish` writes the
 * first one, the sweep and traversals write what lags. Returns false, and keeps the record, if the
 * asset is gone or being deleted, if rows or cues are missing, which the record can restore, or if
 * another writer is faster, who may have older rows: then the sweep comes again.
 */
export async function archiveAsset(
  env: Stores,
  { assetId }: { assetId: AssetId },
): Promise<boolean> {
  const isLive = sql`asset_id = ${assetId} AND deleted_at IS NULL`;
  const counted = sql`SELECT content_revision AS revision FROM assets WHERE ${isLive}`;
  const revision = await prepare(env.DB, counted).first<number>("revision");
  const asset = await getAsset(env.DB, assetId);
  if (revision === null || !asset) return false;
  const key = archiveKey(asset);
  const before = await env.MEDIA.head(key);
  const record = await readArchive(env, asset);
  if (!record) return false;
  const written = await env.MEDIA.put(key, JSON.stringify(record), {
    httpMetadata: { contentType: "application/json" },
    onlyIf: before ? { etagMatches: before.etag } : { etagDoesNotMatch: "*" },
  });
  if (!written) return false;
  const recorded = sql`UPDATE assets SET archived_revision = MAX(archived_revision, ${revision})
    WHERE ${isLive}`;
  const { meta } = await prepare(env.DB, recorded).run();
  if (meta.changes > 0) return true;
  await env.MEDIA.delete(key); // a deletion must leave no record
  return false;
}

/** Makes the record of an asset from its rows. Returns null if segments or cues are missing. */
export async function readArchive(env: Stores, asset: Asset): Promise<StoredArchive | null> {
  const [transcript, cues, segments] = await Promise.all([
    getTranscript(env.DB, asset.assetId),
    getCues(env.MEDIA, asset),
    listArchivedSegments(indexDatabase(env, asset), asset.assetId),
  ]);
  const hasNoCues = transcript !== null && transcript.cues > 0 && cues.length === 0;
  if (segments.length !== asset.segments || hasNoCues) return null;
  return {
    format: ARCHIVE_FORMAT,
    asset_id: asset.assetId,
    asset_type: asset.assetType,
    title: asset.title,
    metadata: asset.metadata,
    source: asset.source,
    content_type: asset.contentType,
    size_bytes: asset.sizeBytes,
    sha256: asset.sha256!,
    width: asset.width,
    height: asset.height,
    duration_ms: asset.durationMs,
    fps: asset.fps,
    has_audio: asset.hasAudio,
    language: asset.language,
    technical: asset.technical,
    keyframe_ms: asset.keyframeMs,
    warnings: asset.warnings,
    created_at: asset.createdAt,
    transcript: transcript && {
      language: transcript.language,
      source: transcript.source,
      error: transcript.error,
      cues: cues.map(({ start, end, text }) => {
        return { start: timeOrNull(start), end: timeOrNull(end), text };
      }),
    },
    segments,
    location: {
      shard: asset.shard,
      vector_pair: asset.vectorPair,
      job_id: asset.jobId,
      transcript_job_id: asset.transcriptJobId,
    },
  };
}

function timeOrNull(time: number): number | null {
  return Number.isNaN(time) ? null : time;
}

async function listArchivedSegments(
  db: IndexDb,
  assetId: AssetId,
): Promise<StoredArchive["segments"]> {
  const rows = await db.all<StoredArchive["segments"][number]>(
    sql`SELECT start_ms, end_ms, keyframe_ms, caption, caption_model, on_screen_text, labels, boxes,
        error, text_model, image_model
      FROM segments WHERE ${ofAsset(assetId)} AND described_at IS NOT NULL ORDER BY position`,
  );
  return rows.map((row) => parseColumns(row, ["labels", "boxes", "error"]));
}

/** Returns the archive record of an asset, or null. Throws if it isn't in the present format. */
export async function getArchive(bucket: R2Bucket, asset: AssetRef): Promise<StoredArchive | null> {
  const object = await bucket.get(archiveKey(asset));
  return object && storedArchive.parse(await object.json());
}

/** Deletes the archive record of an asset: nothing restores the asset any more. */
export async function deleteArchive(bucket: R2Bucket, asset: AssetRef): Promise<void> {
  await bucket.delete(archiveKey(asset));
}

/** Whether the record in R2 has had every change of a ready asset since before `settledBefore`. */
export async function isArchived(
  db: D1Database,
  { assetId }: Pick<Asset, "assetId">,
  settledBefore: number,
): Promise<boolean> {
  const lagging = sql`SELECT 1 AS lags FROM assets WHERE asset_id = ${assetId}
    AND archived_revision < content_revision AND updated_at < ${settledBefore}`;
  return (await prepare(db, lagging).first("lags")) === null;
}

/** Lists ready assets whose record lags, without a change since `before`, latest first. */
export async function listUnarchivedAssets(
  db: D1Database,
  before: number,
  limit: number,
): Promise<Pick<Asset, "assetId">[]> {
  const unarchived = sql`SELECT asset_id AS assetId FROM assets
    WHERE archived_revision < content_revision AND state = 'ready' AND deleted_at IS NULL
      AND updated_at < ${before} ORDER BY updated_at DESC LIMIT ${limit}`;
  return (await prepare(db, unarchived).all<Pick<Asset, "assetId">>()).results;
}

/** Counts a change of an asset's content that its row in D1 doesn't show. */
export async function recordContentChange(
  db: D1Database,
  { assetId }: Pick<Asset, "assetId">,
): Promise<void> {
  const changed = sql`UPDATE assets SET content_revision = content_revision + 1
    WHERE asset_id = ${assetId}`;
  await prepare(db, changed).run();
}
