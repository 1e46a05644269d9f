import { INGEST, LIFECYCLE, LIMITS } from "../config.ts";
import type { InvocationCalls } from "../counts.ts";
import { AppError, ERRORS, type Failure, failureOf, nullIfNotFound } from "../errors.ts";
import { requirePublicUrl } from "../fetching/public-url.ts";
import { mapRecord } from "../field-names.ts";
import { type AssetId, type IndexId, importedAssetId, segmentId as segmentIdOf } from "../ids.ts";
import {
  ARCHIVE_FORMAT,
  type ArchiveLine,
  type ArchiveRecord,
  type AssetLine,
  archiveLine,
  archiveRecord,
} from "../ingest/archive-line.ts";
import { transcriptBySegment } from "../ingest/steps/align-transcript.ts";
import { putImageVectors, putTextVectors } from "../ingest/steps/embed.ts";
import { countedMs } from "../ingest/steps/fetch.ts";
import { countWindows } from "../ingest/windows.ts";
import { withLineMemory } from "../isolate-budget.ts";
import { parseJsonText } from "../json-parse.ts";
import type { JobMessageOf } from "../messages.ts";
import { hasImageEmbeddings } from "../models/embed.ts";
import { clearDeletion, writeAssetState } from "../store/asset-changes.ts";
import { getAsset, getWaveform, insertAsset, updateProperties } from "../store/d1/assets.ts";
import { isIndexLive } from "../store/d1/indices.ts";
import { requireJob } from "../store/d1/jobs.ts";
import { recountBytes, QuotaGuard, recordBytes } from "../store/d1/quotas.ts";
import { listShards } from "../store/d1/shards.ts";
import { listSegmentHealth } from "../store/health.ts";
import { indexDatabase } from "../store/index-database/index-database.ts";
import {
  insertArchivedSegments,
  listArchivedSegments,
  listSegmentsById,
} from "../store/index-database/segments.ts";
import { putFrameSignatures } from "../store/index-database/signatures.ts";
import { getArchivedSignatures } from "../store/r2/frame-signatures.ts";
import {
  archiveLineKey,
  deleteArchiveLines,
  getObject,
  headObject,
} from "../store/r2/object-keys.ts";
import { getCues, getTranscript, putTranscript } from "../store/transcripts.ts";
import type { Asset, NamedIndexRef } from "../types.ts";
import { publicSource } from "../url-credentials.ts";
import { newAsset } from "./create-asset.ts";
import { hasSource, importFiles } from "./import-files.ts";
import { purgeAsset } from "./purge.ts";
import { restoreSignatures } from "./repair.ts";
import { type Checkpoint, SlicePaused, inBatches, sliceCheckpoint } from "./slice.ts";

/**
 * Makes the archive record of an asset from its rows. Returns null if segments or cues are missing,
 * or if the asset is being deleted.
 */
export async function readArchive(env: Env, asset: Asset): Promise<ArchiveRecord | null> {
  const [transcript, waveform, cues, segments] = await Promise.all([
    getTranscript(env.DB, asset.assetId),
    getWaveform(env.DB, asset.assetId),
    getCues(env.MEDIA, asset),
    listArchivedSegments(indexDatabase(env, asset), asset.assetId),
  ]);
  const hasNoCues = transcript !== null && transcript.cues > 0 && cues.length === 0;
  const { sha256 } = asset;
  if (segments.length !== asset.segments || hasNoCues || sha256 === null) return null;
  return mapRecord(archiveRecord, asset, {
    format: ARCHIVE_FORMAT,
    created_at: asset.createdAt,
    source: publicSource(asset.source),
    sha256,
    ...(waveform && { waveform }),
    transcript: transcript && { ...transcript, cues },
    segments,
  }) as ArchiveRecord;
}

/** How far an import has come, which becomes the result of its job. */
export type ArchiveProgress = ReturnType<typeof newArchiveProgress>;

export function newArchiveProgress() {
  return {
    /** Assets that are searchable now, and that the index had before. */
    imported: 0,
    present: 0,
    /** The first `LIFECYCLE.maxUnrepaired`. `line` is from 0, `asset_id` that of the archive. */
    failed: [] as { line: number; asset_id: string; code: string; message: string }[],
    /** The next line, and how many attempts at that failed. */
    next: 0,
    tries: 0,
  };
}

interface ImportContext {
  env: Env;
  index: NamedIndexRef;
  checkpoint: Checkpoint;
}

/**
 * Imports a slice of an archive's assets, from `report.next` on. May run twice, and continues what
 * was cut off. Throws `SlicePaused` if there is more to do, `not_found` if the index or the archive
 * is gone, and errors that may pass.
 */
export async function importArchive(
  env: Env,
  { accountId, indexId, indexName: name, jobId, lineCount }: JobMessageOf<"import_archive">,
  report: ArchiveProgress,
  calls: InvocationCalls,
  onProgress: (share: number) => Promise<boolean>,
): Promise<void> {
  let batchCount = 0;
  const endOfSlice = sliceCheckpoint(calls, () => onProgress(report.next / Math.max(1, lineCount)));
  const checkpoint = async () => {
    await endOfSlice();
    if (++batchCount > LIFECYCLE.maxFetchBatches) throw new SlicePaused();
  };
  for (; report.next < lineCount; report.next++) {
    await checkpoint();
    if (!(await isIndexLive(env.DB, indexId))) {
      throw new AppError("not_found", "The index was deleted.");
    }
    const index = { accountId, indexId, name, shards: await listShards(env.DB, indexId) };
    await withLine(env, archiveLineKey(indexId, jobId, report.next), (line) =>
      importLine({ env, index, checkpoint }, line, report),
    );
  }
}

/**
 * Imports the asset of a stored line, and records the outcome. A download that failed is tried
 * again in the next slice. An unexpected error ends it, too, once it has occurred
 * `LIFECYCLE.maxLineTries` times.
 */
async function importLine(
  context: ImportContext,
  line: ArchiveLine | null,
  report: ArchiveProgress,
): Promise<void> {
  const { env, index } = context;
  const fail = (assetId: string, failure: Failure) => {
    if (report.failed.length >= LIFECYCLE.maxUnrepaired) return;
    report.failed.push({ line: report.next, asset_id: assetId, ...failure });
  };
  if (line === null) return fail("", UNREADABLE_LINE);
  if (line.kind !== "asset") return;
  const { asset_id } = line.record;
  try {
    report[await importAsset(context, line)] += 1;
  } catch (error) {
    if (error instanceof SlicePaused) throw error;
    const failure = failureOf(error);
    const isUnexpected = failure.code === "internal";
    const maxTries = isUnexpected ? LIFECYCLE.maxLineTries : ERRORS[failure.code].maxAttempts;
    if (maxTries === Infinity) throw error;
    report.tries += 1;
    if (report.tries < maxTries) throw isUnexpected ? error : new SlicePaused();
    await purgeUnfinished(env, index.indexId, asset_id);
    fail(asset_id, failure);
  }
  report.tries = 0;
}

const UNREADABLE_LINE: Failure = {
  code: "bad_request",
  message: "A line isn't in the present format; export the index again.",
};

/** Works on a stored line; null if it doesn't match the schema any more. Throws `not_found`. */
async function withLine<T>(
  { MEDIA }: Env,
  key: string,
  work: (line: ArchiveLine | null) => Promise<T>,
): Promise<T> {
  const { size = 0 } = (await headObject(MEDIA, key)) ?? {};
  return withLineMemory(size, async () => {
    const stored = await getObject(MEDIA, key);
    if (!stored) throw new AppError("not_found", "The archive has expired: send it again.");
    const parsed = parseJsonText(await stored.bytes(), LIMITS.archiveLineValues);
    return work(("value" in parsed && archiveLine.safeParse(parsed.value).data) || null);
  });
}

async function purgeUnfinished(env: Env, indexId: IndexId, archivedId: string): Promise<void> {
  const asset = await getAsset(env.DB, await importedAssetId(indexId, archivedId));
  if (asset?.state === IMPORTING) await purgeAsset(env, asset);
}

/** Deletes what a job leaves that was cancelled or has failed: an unfinished asset, its lines. */
export async function cleanUpImport(env: Env, job: JobMessageOf<"import_archive">): Promise<void> {
  const { result } = await requireJob(env.DB, job.accountId, job.jobId);
  const { next = job.lineCount } = (result ?? {}) as Partial<ArchiveProgress>;
  if (next < job.lineCount) {
    await withLine(env, archiveLineKey(job.indexId, job.jobId, next), async (line) => {
      if (line?.kind === "asset") await purgeUnfinished(env, job.indexId, line.record.asset_id);
    }).catch(nullIfNotFound);
  }
  await deleteArchiveLines(env.MEDIA, job);
}

async function importAsset(context: ImportContext, line: AssetLine) {
  const { env, index } = context;
  const { record } = line;
  const assetId = await importedAssetId(index.indexId, record.asset_id);
  let asset = await getAsset(env.DB, assetId);
  if (asset && (asset.state !== IMPORTING || asset.sha256 !== record.sha256)) return "present";
  asset ??= await insertImported(context, assetId, line);
  if (!asset) return "present";
  await clearDeletion(indexDatabase(env, asset), assetId); // of an earlier import
  await importFiles(context, asset, line);
  const imported = await importContent(env, asset, line);
  await embedImported(context, imported);
  const state = { state: "ready", progress: 1, error: null, revision: 1 } as const;
  await writeAssetState(env, asset, state);
  await recountBytes(env, asset);
  return "imported";
}

const IMPORTING = "embedding";

/**
 * Inserts the row of an asset. Returns null if the index has its bytes. Throws for a quota, and
 * `blocked_address` for a URL that an ingest wouldn't take.
 */
async function insertImported(
  { env, index }: ImportContext,
  assetId: AssetId,
  { record }: AssetLine,
): Promise<Asset | null> {
  const { accountId, indexId, shards } = index;
  const { asset_type: assetType, title, metadata, sha256 } = record;
  const { kind, url } = record.source;
  if (kind === "url") requirePublicUrl(url!, env.FETCH_ALLOW);
  const identity = { assetId, indexId, accountId, assetType, ...shards.at(-1)! };
  const stored = {
    contentType: record.content_type ?? "application/octet-stream",
    sizeBytes: 0, // until the file is stored
    sha256,
  };
  const description = { title, source: publicSource(record.source), metadata };
  const ofIndex = { name: index.name, settings: {} };
  const created = newAsset(identity, ofIndex, stored, description, Date.now());
  created.state = IMPORTING;
  created.createdAt = Math.min(record.created_at, created.createdAt);
  return (await insertAsset(env.DB, created)) ? created : null;
}

/** Writes what the record says of an asset, and returns that. Throws `limit_reached`. */
async function importContent(env: Env, asset: Asset, { record, files }: AssetLine): Promise<Asset> {
  const { transcript, segments } = record;
  const sizeBytes = hasSource(files) ? record.size_bytes : 0; // as `importFiles` has checked
  const storedBytes = sizeBytes - asset.sizeBytes;
  const isCounted = asset.segments === 0 && asset.assetType === "video";
  const lengthMs = isCounted ? countedMs(record.duration_ms, segments.length) : 0;
  const quota = new QuotaGuard(asset.accountId, {
    stored_bytes: storedBytes,
    ingest_minutes_per_day: lengthMs / 60_000,
    ...recordBytes(record.technical, record.warnings),
  });
  const { width, height, fps, language, technical, waveform, warnings } = record;
  const facts = { width, height, fps, language, technical, ...(waveform && { waveform }) };
  const properties = {
    ...facts,
    sizeBytes,
    durationMs: record.duration_ms,
    hasAudio: record.has_audio,
    keyframeMs: record.keyframe_ms,
    segments: segments.length,
    warnings: hasSource(files) ? warnings : [...warnings, WITHOUT_MEDIA],
  };
  const uncountedMs = Math.max(0, lengthMs - record.duration_ms);
  await updateProperties(env.DB, asset.assetId, properties, { quota, uncountedMs, storedBytes });
  const updated = (await getAsset(env.DB, asset.assetId))!;
  if (transcript) await putTranscript(env, updated, transcript.cues, transcript);
  await insertSegments(env, updated, record);
  return updated;
}

const WITHOUT_MEDIA: Failure = {
  code: "source_missing",
  message: "It was imported without its file: it is found by its text, and can't be played.",
};

/**
 * Inserts the segments that an archive record has and the index's database hasn't, with their full
 * text and the signatures of frames. Signatures of keyframes and vectors are the work of others.
 */
async function insertSegments(
  env: Env,
  asset: Asset,
  { segments: archived, transcript }: ArchiveRecord,
): Promise<void> {
  const db = indexDatabase(env, asset);
  const ids = await Promise.all(archived.map((_, i) => segmentIdOf(asset.assetId, i)));
  const ranges = archived.map(({ start_ms: startMs, end_ms: endMs }, i) => {
    return { segmentId: ids[i]!, startMs, endMs };
  });
  const isVideo = asset.assetType === "video";
  const texts = isVideo ? transcriptBySegment(asset, ranges, transcript?.cues ?? []) : [];
  const segments = archived.map((segment, i) =>
    Object.assign(segment, { segment_id: ids[i]!, transcript: texts[i]?.transcript ?? "" }),
  );
  await insertArchivedSegments(db, asset, segments, Date.now());
  if (!isVideo) return;
  for (let window = 0; window < countWindows(asset); window++) {
    const stored = await getArchivedSignatures(env.MEDIA, asset, window);
    const signatures = stored.flatMap(({ position, ms, hashes, luma_thumbnail }) => {
      const lumaThumbnail = new Uint8Array(Buffer.from(luma_thumbnail, "base64"));
      const segmentId = ids[position];
      return segmentId ? [{ segmentId, ms, signature: { hashes, lumaThumbnail } }] : [];
    });
    const signed = new Set(signatures.map(({ segmentId }) => segmentId));
    await putFrameSignatures(db, [...signed], signatures);
  }
}

/** Signs the stored keyframes of segments, and makes the vectors that they don't have yet. */
async function embedImported({ env, checkpoint }: ImportContext, asset: Asset): Promise<void> {
  const db = indexDatabase(env, asset);
  const health = await listSegmentHealth(env, asset, Date.now());
  const ids = health.filter(({ textModel }) => textModel === null).map((each) => each.segmentId);
  await inBatches(ids, INGEST.segmentsPerPart, checkpoint, async (batch) => {
    const unsigned = await listSegmentsById(db, asset.assetId, batch);
    const withoutKeyframe = await restoreSignatures(env, asset, unsigned);
    const lacking = new Set(withoutKeyframe.map(({ segmentId }) => segmentId));
    const segments = await listSegmentsById(db, asset.assetId, batch);
    const withKeyframe = segments.filter(({ segmentId }) => !lacking.has(segmentId));
    if (hasImageEmbeddings(env)) await putImageVectors(env, asset, withKeyframe);
    await putTextVectors(env, asset, segments); // last: it marks the segment as done
  });
}
