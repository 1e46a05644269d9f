import { AppError } from "../errors.ts";
import type { AssetId } from "../ids.ts";
import { parseJsonText } from "../json-parse.ts";
import type { Asset, AssetRef } from "../types.ts";
import { publicSource } from "../url-credentials.ts";
import { getAsset } from "./d1/assets.ts";
import { releaseBytes } from "./d1/object-bytes.ts";
import { getWaveform } from "./d1/waveforms.ts";
import { type Databases, indexDatabase, type IndexDb } from "./index-database/index-database.ts";
import { listOf, ofAsset, textOf } from "./index-database/segments.ts";
import { ARCHIVE_FORMAT, fromCue, type StoredArchive, storedArchive } from "./r2/archive-record.ts";
import { archiveKey } from "./r2/object-keys.ts";
import { all, firstValue, IN_TURN, parseColumns, raw, run, sql } from "./sql.ts";
import { getCues, getTranscript } from "./transcripts.ts";

/** Bindings of what an archive record is made of, and of where it is. */
type ArchiveBindings = Databases & Pick<Env, "MEDIA">;

/**
 * Writes the archive record of an asset, `asset.json` in R2, from its rows: all that rebuilding
 * them takes. D1 counts the changes of what is in it, and which of them it has; `finish` writes the
 * first one, the sweep and traversals write what lags. Returns false, and keeps the record, if the
 * asset is gone or being deleted, if rows or cues are missing, which the record can restore, or if
 * another writer is faster, who may have older rows: then the sweep comes again.
 */
export async function archiveAsset(
  env: ArchiveBindings,
  { assetId }: { assetId: AssetId },
): Promise<boolean> {
  const isLive = sql`asset_id = ${assetId} AND deleted_at IS NULL`;
  const counted = sql`SELECT content_revision AS revision FROM assets WHERE ${isLive}`;
  const revision = await firstValue<number>(env.DB, counted);
  const asset = await getAsset(env.DB, assetId);
  if (revision === null || !asset) return false;
  const key = archiveKey(asset);
  const before = await env.MEDIA.head(key);
  const record = await readArchive(env, asset);
  if (!record) return false;
  const text = JSON.stringify(record);
  const written = await env.MEDIA.put(key, text, {
    httpMetadata: { contentType: "application/json" },
    onlyIf: before ? { etagMatches: before.etag } : { etagDoesNotMatch: "*" },
  });
  const replacedBytes = written ? (before?.size ?? 0) : Buffer.byteLength(text);
  await releaseBytes(env.DB, asset.assetId, replacedBytes);
  if (!written) return false;
  const recorded = sql`UPDATE assets SET archived_revision = MAX(archived_revision, ${revision})
    WHERE ${isLive}`;
  const { meta } = await run(env.DB, recorded);
  if (meta.changes > 0) return true;
  await env.MEDIA.delete(key); // a deletion must leave no record
  return false;
}

/** Makes the record of an asset from its rows. Returns null if segments or cues are missing. */
export async function readArchive(
  env: ArchiveBindings,
  asset: Asset,
): Promise<StoredArchive | null> {
  const [transcript, waveform, cues, segments] = await Promise.all([
    getTranscript(env.DB, asset.assetId),
    getWaveform(env.DB, asset.assetId),
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
    source: publicSource(asset.source),
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
    ...(waveform && { waveform }),
    keyframe_ms: asset.keyframeMs,
    warnings: asset.warnings,
    created_at: asset.createdAt,
    transcript: transcript && {
      language: transcript.language,
      source: transcript.source,
      error: transcript.error,
      cues: cues.map(fromCue),
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

async function listArchivedSegments(
  db: IndexDb,
  assetId: AssetId,
): Promise<StoredArchive["segments"]> {
  type Row = StoredArchive["segments"][number] & { position: number };
  const rows = await db.allByPosition<Row>(
    (after) => sql`SELECT position, start_ms, end_ms, keyframe_ms,
        ${raw(textOf("caption"))} AS caption, caption_model,
        ${raw(textOf("on_screen_text"))} AS on_screen_text, ${raw(listOf("labels"))} AS labels,
        ${raw(listOf("boxes"))} AS boxes, error, text_model, image_model
      FROM segments WHERE ${ofAsset(assetId)} AND position > ${after}
        AND described_at IS NOT NULL ORDER BY position`,
  );
  return rows.map((row) => {
    const { position: _, ...columns } = row;
    return parseColumns(columns, ["labels", "boxes", "error"]);
  });
}

/**
 * Returns the archive record of an asset, or null. Throws `conflict` if it isn't in the present
 * format: another version of the service may have written it.
 */
export async function getArchive(bucket: R2Bucket, asset: AssetRef): Promise<StoredArchive | null> {
  const object = await bucket.get(archiveKey(asset));
  if (!object) return null;
  const parsed = parseJsonText(await object.bytes(), Infinity);
  const record = "value" in parsed ? storedArchive.safeParse(parsed.value).data : undefined;
  if (record) return record;
  throw new AppError("conflict", "The archive record isn't in the present format.");
}

/** Deletes the archive records of at most 1,000 assets: nothing restores these any more. */
export async function deleteArchives(bucket: R2Bucket, assets: AssetRef[]): Promise<void> {
  await bucket.delete(assets.map(archiveKey));
}

/** Whether the record in R2 has had every change of a ready asset since before `settledBefore`. */
export async function isArchived(
  db: D1Database,
  { assetId }: Pick<Asset, "assetId">,
  settledBefore: number,
): Promise<boolean> {
  const lagging = sql`SELECT 1 AS lags FROM assets WHERE asset_id = ${assetId}
    AND archived_revision < content_revision AND updated_at < ${settledBefore}`;
  return (await firstValue(db, lagging)) === null;
}

/** Lists ready assets, in turn, whose record lags, without a change since `before`. */
export async function listUnarchivedAssets(
  db: D1Database,
  before: number,
  limit: number,
): Promise<Pick<Asset, "assetId">[]> {
  const unarchived = sql`SELECT asset_id AS assetId FROM assets
    WHERE archived_revision < content_revision AND state = 'ready' AND deleted_at IS NULL
      AND updated_at < ${before} ${IN_TURN} LIMIT ${limit}`;
  return all<Pick<Asset, "assetId">>(db, unarchived);
}

/** Counts a change of an asset's content that its row in D1 doesn't show. */
export async function recordContentChange(
  db: D1Database,
  { assetId }: Pick<Asset, "assetId">,
): Promise<void> {
  const changed = sql`UPDATE assets SET content_revision = content_revision + 1
    WHERE asset_id = ${assetId}`;
  await run(db, changed);
}
