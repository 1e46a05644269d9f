import { INGEST, LIFECYCLE, LIMITS } from "../config.ts";
import { AppError, ERRORS, type Failure, failureOf } from "../errors.ts";
import { requirePublicUrl } from "../fetching/public-url.ts";
import { type AssetId, importedAssetId, type IndexId } from "../ids.ts";
import { type ArchiveLine, type AssetLine, archiveLine } from "../ingest/archive-line.ts";
import { putTextVectors, putImageVectors } from "../ingest/steps/embed.ts";
import { countedMs } from "../ingest/steps/fetch.ts";
import { parseJsonText } from "../json-parse.ts";
import type { JobMessageOf } from "../messages.ts";
import type { InvocationCalls } from "../metering/invocation-calls.ts";
import { hasImageEmbeddings } from "../models/embed-image.ts";
import { archiveAsset } from "../store/archive.ts";
import { writeAssetState } from "../store/asset-changes.ts";
import { getAsset, insertAsset, updateProperties } from "../store/d1/assets.ts";
import { requireJob } from "../store/d1/jobs.ts";
import { QuotaGuard, recordBytes } from "../store/d1/quotas.ts";
import { listShards } from "../store/d1/shards.ts";
import { isIndexLive } from "../store/d1/traversals.ts";
import { listSegmentHealth } from "../store/health.ts";
import { indexDatabase } from "../store/index-database/index-database.ts";
import { listSegmentsById } from "../store/index-database/segments.ts";
import { clearDeletion } from "../store/mirror.ts";
import { archivedCues } from "../store/r2/archive-record.ts";
import { archiveLineKey, deleteArchiveLines, getObject } from "../store/r2/object-keys.ts";
import { recountBytes } from "../store/recount-bytes.ts";
import { putTranscript } from "../store/transcripts.ts";
import type { Asset, NamedIndexRef } from "../types.ts";
import { publicSource } from "../url-credentials.ts";
import { newAsset } from "./create-asset.ts";
import { restoreSegments } from "./health/archive.ts";
import { restoreSignatures } from "./health/objects.ts";
import { hasSource, importFiles } from "./import-files.ts";
import { purgeAsset } from "./purge.ts";
import { type Checkpoint, inBatches, SlicePaused, sliceCheckpoint } from "./slice.ts";

/** What an import has done so far: the result of its job. */
interface ArchiveReport {
  /** Assets that are searchable now, and that the index had before. */
  imported: number;
  present: number;
  /** The first `LIFECYCLE.maxUnrepaired`. `line` is from 0, `asset_id` that of the archive. */
  failed: { line: number; asset_id: string; code: string; message: string }[];
}

/** How far an import has come: the next line, and how many attempts at that failed. */
export type ArchiveProgress = ArchiveReport & { next: number; tries: number };

/** An index that is imported into. */
interface ImportContext {
  env: Env;
  index: NamedIndexRef;
  checkpoint: Checkpoint;
}

export function newArchiveProgress(): ArchiveProgress {
  return { imported: 0, present: 0, failed: [], next: 0, tries: 0 };
}

/** An archive whose lines are stored, and the next of them. */
type StoredLines = Omit<JobMessageOf<"import_archive">, "kind" | "isComplete">;

/**
 * Imports a slice of an archive's assets, from `report.next` on. May run twice, and continues what
 * was cut off. Throws `SlicePaused` if there is more to do, `not_found` if the index or the archive
 * is gone, and errors that may pass.
 */
export async function importArchive(
  env: Env,
  { accountId, indexId, indexName: name, jobId, lineCount }: StoredLines,
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
    const key = archiveLineKey(indexId, jobId, report.next);
    await importLine({ env, index, checkpoint }, key, report);
  }
}

/**
 * Imports the asset of a stored line, and records the outcome. A download that failed is tried
 * again in the next slice. An unexpected error ends it, too, once it has occurred
 * `LIFECYCLE.maxLineTries` times.
 */
async function importLine(
  context: ImportContext,
  key: string,
  report: ArchiveProgress,
): Promise<void> {
  const { env, index } = context;
  const line = await readLine(env, key);
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
    const { code } = failureOf(error);
    const isUnexpected = code === "internal";
    const maxTries = isUnexpected ? LIFECYCLE.maxLineTries : ERRORS[code].maxAttempts;
    if (maxTries === Infinity) throw error;
    report.tries += 1;
    if (report.tries < maxTries) throw isUnexpected ? error : new SlicePaused();
    await purgeUnfinished(env, index.indexId, asset_id);
    fail(asset_id, failureOf(error));
  }
  report.tries = 0;
}

const UNREADABLE_LINE: Failure = {
  code: "bad_request",
  message: "A line isn't in the present format; export the index again.",
};

/** Reads a stored line; null if it doesn't match the schema any more. Throws `not_found`. */
async function readLine(env: Env, key: string): Promise<ArchiveLine | null> {
  const stored = await getObject(env.MEDIA, key);
  if (!stored) throw new AppError("not_found", "The archive has expired: send it again.");
  const parsed = parseJsonText(await stored.bytes(), LIMITS.archiveLineValues);
  return ("value" in parsed && archiveLine.safeParse(parsed.value).data) || null;
}

/** Deletes the asset that an import has ended in the middle of. */
async function purgeUnfinished(env: Env, indexId: IndexId, archivedId: string): Promise<void> {
  const asset = await getAsset(env.DB, await importedAssetId(indexId, archivedId));
  if (asset?.state === IMPORTING) await purgeAsset(env, asset);
}

/** Deletes what a job leaves that was cancelled or has failed: an unfinished asset, its lines. */
export async function cleanUpImport(env: Env, job: JobMessageOf<"import_archive">): Promise<void> {
  const { result } = await requireJob(env.DB, job.accountId, job.jobId);
  const { next = job.lineCount } = (result ?? {}) as Partial<ArchiveProgress>;
  if (next < job.lineCount) {
    const line = await readLine(env, archiveLineKey(job.indexId, job.jobId, next)).catch(ifGone);
    if (line?.kind === "asset") await purgeUnfinished(env, job.indexId, line.record.asset_id);
  }
  await deleteArchiveLines(env.MEDIA, job);
}

/** Returns null for `not_found`: it was cleaned up before. */
function ifGone(error: unknown): null {
  if (failureOf(error).code === "not_found") return null;
  throw error;
}

async function importAsset(
  context: ImportContext,
  line: AssetLine,
): Promise<"imported" | "present"> {
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
  await archiveAsset(env, asset);
  await recountBytes(env, asset);
  return "imported";
}

/** State of an asset while it is imported. */
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
  const created: Asset = {
    ...newAsset(
      identity,
      { name: index.name, settings: {} },
      stored,
      { title, source: publicSource(record.source), metadata },
      Date.now(),
    ),
    state: IMPORTING,
    createdAt: Math.min(record.created_at, Date.now()),
  };
  return (await insertAsset(env.DB, created)) ? created : null;
}

/** Writes what the record says of an asset, and returns that. Throws `limit_reached`. */
async function importContent(env: Env, asset: Asset, { record, files }: AssetLine): Promise<Asset> {
  const { transcript, segments } = record;
  const sizeBytes = hasSource(files) ? record.size_bytes : 0; // as `importFiles` has checked
  const isCounted = asset.segments === 0 && asset.assetType === "video";
  const lengthMs = isCounted ? countedMs(record.duration_ms, segments.length) : 0;
  const untoldMs = Math.max(0, lengthMs - record.duration_ms);
  const quota = new QuotaGuard(asset.accountId, {
    stored_bytes: sizeBytes - asset.sizeBytes,
    ingest_minutes_per_day: lengthMs / 60_000,
    ...recordBytes(record.technical, record.warnings),
  });
  const properties = {
    ...(record.width !== null && { width: record.width }),
    ...(record.height !== null && { height: record.height }),
    ...(record.has_audio !== null && { hasAudio: record.has_audio }),
    ...(record.keyframe_ms !== null && { keyframeMs: record.keyframe_ms }),
    durationMs: record.duration_ms,
    sizeBytes,
    fps: record.fps,
    language: record.language,
    technical: record.technical,
    ...(record.waveform && { waveform: record.waveform }),
    segments: segments.length,
    warnings: hasSource(files) ? record.warnings : [...record.warnings, WITHOUT_MEDIA],
  };
  const added = { quota, untoldMs, storedBytes: sizeBytes - asset.sizeBytes };
  await updateProperties(env.DB, asset.assetId, properties, added);
  const updated = (await getAsset(env.DB, asset.assetId))!;
  if (transcript) await putTranscript(env, updated, archivedCues(record), transcript);
  for (const segment of segments) segment.text_model = segment.image_model = null; // not yet here
  await restoreSegments(env, updated, record);
  return updated;
}

const WITHOUT_MEDIA: Failure = {
  code: "source_missing",
  message: "It was imported without its file: it is found by its text, and can't be played.",
};

/** Signs the stored keyframes of segments, and makes the vectors that they don't have yet. */
async function embedImported({ env, checkpoint }: ImportContext, asset: Asset): Promise<void> {
  const db = indexDatabase(env, asset);
  const health = await listSegmentHealth(env, asset, Date.now());
  const ids = health.filter(({ textModel }) => textModel === null).map((each) => each.segmentId);
  await inBatches(ids, INGEST.segmentsPerPart, checkpoint, async (batch) => {
    const unsigned = await listSegmentsById(db, asset.assetId, batch);
    const withoutKeyframe = new Set(
      (await restoreSignatures(env, asset, unsigned)).map(({ segmentId }) => segmentId),
    );
    const segments = await listSegmentsById(db, asset.assetId, batch);
    const withKeyframe = segments.filter(({ segmentId }) => !withoutKeyframe.has(segmentId));
    if (hasImageEmbeddings(env)) await putImageVectors(env, asset, withKeyframe);
    await putTextVectors(env, asset, segments); // last: it marks the segment as done
  });
}
