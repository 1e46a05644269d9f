import { CONNECTIONS, mapConcurrent } from "../concurrency.ts";
import { INGEST, LIFECYCLE, LIMITS } from "../config.ts";
import { AppError, type Failure, failureOf, isRetryable } from "../errors.ts";
import { download } from "../fetching/download.ts";
import { type AssetId, importedAssetId } from "../ids.ts";
import type { JobMessageOf } from "../messages.ts";
import { type AssetLine, archiveLine } from "../ingest/archive-line.ts";
import { putTextVectors, putImageVectors } from "../ingest/steps/embed.ts";
import { storeSource } from "../ingest/steps/fetch.ts";
import { hasImageEmbeddings } from "../models/embed-image.ts";
import { writeAssetState } from "../store/asset-changes.ts";
import { archiveAsset } from "../store/archive.ts";
import { archivedCues } from "../store/archived-rows.ts";
import { clearDeletion } from "../store/mirror.ts";
import { getAsset, insertAsset, updateProperties } from "../store/assets.ts";
import { listSegmentHealth } from "../store/health.ts";
import { indexDatabase } from "../store/index-database.ts";
import {
  archiveLineKey,
  assetPrefix,
  getObject,
  listObjects,
  putImportedFile,
} from "../store/object-keys.ts";
import { QuotaGuard } from "../store/quotas.ts";
import { listSegmentsById } from "../store/segments.ts";
import { listShards } from "../store/shards.ts";
import { isIndexLive } from "../store/traversals.ts";
import { putTranscript } from "../store/transcripts.ts";
import type { Asset, NamedIndexRef } from "../types.ts";
import { newAsset } from "./create-asset.ts";
import { restoreSegments } from "./health/archive.ts";
import { restoreSignatures } from "./health/objects.ts";
import { purgeAsset } from "./purge.ts";
import { inBatches, RepairPaused, type RepairContext, sliceCheckpoint } from "./repair-context.ts";

/** What an import has done so far: the result of its job. */
export interface ArchiveReport {
  /** Assets that are searchable now, and that the index had before. */
  imported: number;
  present: number;
  /** The first `LIFECYCLE.maxUnrepaired`. `asset_id` is that of the archive. */
  failed: { asset_id: string; code: string; message: string }[];
}

/** An index that is imported into. */
interface ImportContext {
  env: Env;
  index: NamedIndexRef;
  checkpoint: RepairContext["checkpoint"];
}

export function newArchiveReport(): ArchiveReport {
  return { imported: 0, present: 0, failed: [] };
}

/** An archive whose lines are stored, and the next of them. */
type StoredLines = Omit<JobMessageOf<"import_archive">, "kind" | "isComplete">;

/**
 * Imports a slice of an archive's assets, from `report.next` on. Returns whether it is complete.
 * May run twice, and continues what was cut off. Throws `not_found` if the index or the archive is
 * gone, and errors that may pass.
 */
export async function importArchive(
  env: Env,
  { accountId, indexId, indexName: name, jobId, lineCount }: StoredLines,
  report: ArchiveReport & { next: number },
  onProgress: (share: number) => Promise<boolean>,
): Promise<boolean> {
  let calls = 0;
  const isInSlice = sliceCheckpoint(() => onProgress(report.next / Math.max(1, lineCount)));
  const checkpoint = async () => {
    if (++calls > LIFECYCLE.slice.maxBatches) throw new RepairPaused();
    await isInSlice();
  };
  try {
    for (; report.next < lineCount; report.next++) {
      await checkpoint();
      if (!(await isIndexLive(env.DB, indexId))) {
        throw new AppError("not_found", "The index was deleted.");
      }
      const index = { accountId, indexId, name, shards: await listShards(env.DB, indexId) };
      const key = archiveLineKey(indexId, jobId, report.next);
      await importLine({ env, index, checkpoint }, key, report);
    }
  } catch (error) {
    if (error instanceof RepairPaused) return false;
    throw error;
  }
  return true;
}

/** Imports the asset of a stored line, and records the outcome. */
async function importLine(
  context: ImportContext,
  key: string,
  report: ArchiveReport,
): Promise<void> {
  const stored = await getObject(context.env.MEDIA, key);
  if (!stored) throw new AppError("not_found", "The archive has expired: send it again.");
  const line = archiveLine.parse(await stored.json());
  if (line.kind !== "asset") return;
  try {
    report[await importAsset(context, line)] += 1;
  } catch (error) {
    if (error instanceof RepairPaused || isRetryable(error, Number.MAX_SAFE_INTEGER)) throw error;
    if (report.failed.length >= LIFECYCLE.maxUnrepaired) return;
    report.failed.push({ asset_id: line.record.asset_id, ...failureOf(error) });
  }
}

async function importAsset(
  context: ImportContext,
  line: AssetLine,
): Promise<"imported" | "present"> {
  const { env, index } = context;
  const { record } = line;
  const assetId = await importedAssetId(index.indexId, record.asset_id);
  let asset = await getAsset(env.DB, assetId);
  if (asset && asset.state !== IMPORTING) return "present";
  asset ??= await insertImported(context, assetId, line);
  if (!asset) return "present";
  await clearDeletion(indexDatabase(env, asset), assetId); // of an earlier import
  try {
    await importFiles(context, asset, line);
    const imported = await importContent(env, asset, line);
    await embedImported(context, imported);
    const state = { state: "ready", progress: 1, error: null, revision: 1 } as const;
    await writeAssetState(env, asset, state);
    await archiveAsset(env, asset);
    return "imported";
  } catch (error) {
    const isFinal =
      !(error instanceof RepairPaused) && !isRetryable(error, Number.MAX_SAFE_INTEGER);
    if (isFinal) await purgeAsset(env, asset);
    throw error;
  }
}

/** State of an asset while it is imported. */
const IMPORTING = "embedding";

/** Inserts the row of an asset. Returns null if the index has its bytes. Throws for a quota. */
async function insertImported(
  { env, index }: ImportContext,
  assetId: AssetId,
  { record, files }: AssetLine,
): Promise<Asset | null> {
  const { accountId, indexId, shards } = index;
  const { asset_type: assetType, title, source, metadata, sha256 } = record;
  const identity = { assetId, indexId, accountId, assetType, ...shards.at(-1)! };
  const stored = {
    contentType: record.content_type ?? "application/octet-stream",
    sizeBytes: hasSource(files) ? record.size_bytes : 0,
    sha256,
  };
  const created: Asset = {
    ...newAsset(
      identity,
      { name: index.name, settings: {} },
      stored,
      { title, source, metadata },
      Date.now(),
    ),
    state: IMPORTING,
    createdAt: record.created_at,
  };
  return (await insertAsset(env.DB, created)) ? created : null;
}

const hasSource = (files: AssetLine["files"]) => files.some(({ path }) => path === "source");

/** Fetches the files that aren't stored yet. Throws what `download` and `storeSource` throw. */
async function importFiles(
  { env, checkpoint }: ImportContext,
  asset: Asset,
  { record, files }: AssetLine,
): Promise<void> {
  const prefix = assetPrefix(asset);
  const stored = new Set((await listObjects(env.MEDIA, prefix)).map(({ key }) => key));
  const missing = files.filter(({ path }) => !stored.has(prefix + path));
  await inBatches(missing, CONNECTIONS, checkpoint, async (batch) => {
    await mapConcurrent(batch, CONNECTIONS, async ({ path, url }) => {
      if (path === "source") {
        const chunks = download(url, env.FETCH_ALLOW, record.size_bytes);
        await storeSource(env.MEDIA, asset, chunks, record.sha256);
      } else {
        const bytes: Uint8Array[] = [];
        for await (const chunk of download(url, env.FETCH_ALLOW, LIMITS.archiveFileBytes)) {
          bytes.push(chunk);
        }
        await putImportedFile(env.MEDIA, asset, path, Buffer.concat(bytes));
      }
    });
  });
}

/** Writes what the record says of an asset, and returns that. Throws `limit_reached`. */
async function importContent(env: Env, asset: Asset, { record, files }: AssetLine): Promise<Asset> {
  const { transcript, segments } = record;
  const minutes = (record.duration_ms - asset.durationMs) / 60_000; // none if it was counted before
  const quota = new QuotaGuard(asset.accountId, { ingest_minutes_per_day: minutes });
  const properties = {
    ...(record.width !== null && { width: record.width }),
    ...(record.height !== null && { height: record.height }),
    ...(record.has_audio !== null && { hasAudio: record.has_audio }),
    ...(record.keyframe_ms !== null && { keyframeMs: record.keyframe_ms }),
    durationMs: record.duration_ms,
    fps: record.fps,
    language: record.language,
    technical: record.technical,
    segments: segments.length,
    warnings: hasSource(files) ? record.warnings : [...record.warnings, WITHOUT_MEDIA],
  };
  await updateProperties(env.DB, asset.assetId, properties, quota);
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
