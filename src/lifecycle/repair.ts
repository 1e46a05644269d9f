import { INGEST, LIFECYCLE } from "../config.ts";
import {
  AppError,
  ERRORS,
  type ErrorCode,
  type Failure,
  failureOf,
  isDeferrable,
  traceOf,
} from "../errors.ts";
import type { JobId } from "../ids.ts";
import { remakeWorkingCopy } from "../ingest/conversion.ts";
import { putAsrTranscript } from "../ingest/steps/align-transcript.ts";
import { recognizeSpeech } from "../ingest/steps/analyze-audio.ts";
import { forEachKeyframe, storeKeyframe, describeSegments } from "../ingest/steps/describe.ts";
import { putImageVectors, putTextVectors, putVectors } from "../ingest/steps/embed.ts";
import { refetchSourceFile } from "../ingest/steps/fetch.ts";
import { recordSummary } from "../ingest/steps/finish.ts";
import { countAudioChunks } from "../ingest/transcript/audio-chunks.ts";
import { resumeReembedding } from "../ingest/transcript/replace.ts";
import { log } from "../log.ts";
import type { ImageModel } from "../models/embed.ts";
import { isAssetLive, restoreFacts } from "../store/asset-changes.ts";
import { getAsset, updateProperties } from "../store/d1/assets.ts";
import { recountBytes } from "../store/d1/quotas.ts";
import { recordRestart, reindexFullText, wasRestarted } from "../store/health.ts";
import { indexDatabase } from "../store/index-database/index-database.ts";
import { listSegments, listSegmentsById, recordVectors } from "../store/index-database/segments.ts";
import { indexObject } from "../store/index-object.ts";
import { asrPrefix, deleteObjectKeys, getKeyframe, listObjects } from "../store/r2/object-keys.ts";
import { listAbandonedJobs, setSegmentTranscripts } from "../store/transcript-replacement.ts";
import { getTranscript, listRecognized } from "../store/transcripts.ts";
import { vectorPair } from "../store/vectorize/vector-pairs.ts";
import {
  deleteSegmentVectors,
  isImageVector,
  toSegmentId,
  toVectorIds,
} from "../store/vectorize/vectors.ts";
import type { Asset, IndexRef, Segment } from "../types.ts";
import type { Finding, FindingCode, IndexFindingCode } from "./findings.ts";
import { idsOf, inspectAsset, listMismatchedSegments } from "./inspect.ts";
import { purgeAsset, purgeOrphanAssets } from "./purge.ts";
import { type Checkpoint, SlicePaused, inBatches } from "./slice.ts";

interface RepairContext {
  env: Env;
  asset: Asset;
  jobId: JobId;
  checkpoint: Checkpoint;
}

/**
 * Resolves findings by steps of the ingest; `about` holds their ids or keys. May run twice, or
 * again after stopping anywhere. Throws if nothing can be repaired.
 */
type Repair = (context: RepairContext, about: string[]) => Promise<unknown>;

/** Repairs by finding, in order: each may need what the ones before it have restored. */
const REPAIRS: [FindingCode[], Repair][] = [
  [["ingest_failed"], restartFailed],
  [["ingest_stuck"], restart],
  [["source_missing", "source_truncated"], ({ env, asset }) => refetchSourceFile(env, asset)],
  [["working_copy_missing"], (one) => remakeWorkingCopy(one.env, one.asset, one.checkpoint)],
  [["facts_mismatch"], ({ env, asset }) => restoreFacts(env, asset)],
  [["segment_count_mismatch"], recountSegments],
  [["keyframes_missing", "signatures_missing"], reextractKeyframes],
  [["keyframes_undescribed"], describeKeyframes],
  [["sound_unrecognized"], recognizeFailedSpeech],
  [["transcript_missing"], rebuildTranscript],
  [["transcript_mismatch"], realignTranscript],
  [["fulltext_missing"], rebuildFullText],
  [["vectors_missing", "vectors_stale", "vectors_unexpected"], reembedSegments],
];

/**
 * Inspects an asset, repairs what it finds, and records that in `report`. Sound data stays
 * untouched and searchable meanwhile. An asset that is being deleted is purged, even if the
 * deletion begins during the repair: then the vectors that the repair may have written are deleted.
 */
export async function repairAsset(
  context: RepairContext,
  imageModel: ImageModel,
  report: Report,
  now: number,
): Promise<void> {
  const { env, asset } = context;
  if (!(await isAssetLive(env.DB, asset.assetId))) return purgeAsset(env, asset);
  let findings = await inspectAsset(env, asset, imageModel, now);
  if (findings.length === 0) return recountBytes(env, asset);
  for (const [codes, repair] of REPAIRS) {
    const repairable = findings.filter(({ code }) => codes.includes(code));
    if (repairable.length === 0) continue;
    const about = [...new Set(repairable.flatMap((finding) => finding.about))];
    await recordRepair(report, asset, repairable, () => repair(context, about));
    if (repair === recountSegments) {
      const restarted = await getAsset(env.DB, asset.assetId); // then it isn't ready
      findings = await inspectAsset(env, restarted ?? asset, imageModel, now);
    }
  }
  await recountBytes(env, asset);
  if (await isAssetLive(env.DB, asset.assetId)) return;
  const ids = findings.flatMap(({ about }) => about).filter((id) => id.startsWith("seg_"));
  await deleteSegmentVectors(vectorPair(env, asset), [...new Set(ids.map(toSegmentId))]);
  await purgeAsset(env, asset);
}

export async function repairIndex(
  env: Env,
  index: IndexRef,
  { code, about }: Finding<IndexFindingCode>,
  checkpoint: Checkpoint,
): Promise<void> {
  if (code === "objects_orphaned") await deleteObjectKeys(env.MEDIA, about);
  else await purgeOrphanAssets(env, index, checkpoint);
}

/** Starts the ingest from its first step. Steps that are done find their results stored. */
async function restart({ env, asset }: RepairContext): Promise<void> {
  const { indexId, assetId, assetType, jobId } = asset;
  await indexObject(env, indexId).start(indexId, assetId, assetType, jobId);
}

/** Starts the ingest again, but only once for an asset: throws `error` afterwards. */
async function restartOnce(context: RepairContext, error: Failure): Promise<void> {
  const { env, asset } = context;
  if (await wasRestarted(env.DB, asset.assetId)) throw new AppError(error.code, error.message);
  await restart(context);
  await recordRestart(env.DB, asset.assetId, Date.now());
}

/** Restarts a failed ingest if its cause may have passed. Throws the ingest's error otherwise. */
async function restartFailed(context: RepairContext): Promise<void> {
  const { code, message } = context.asset.error ?? INGEST_FAILED;
  if (!isTransient(code)) throw new AppError(code, message);
  await restartOnce(context, { code, message: `It was restarted, and failed again. ${message}` });
}

const INGEST_FAILED = { code: "attempts_exhausted", message: "The ingest failed." } as const;

function isTransient(code: ErrorCode): boolean {
  const { status, maxAttempts } = ERRORS[code];
  const isOurs = code === "attempts_exhausted" || code === "limit_reached";
  return isOurs || (status >= 500 && maxAttempts > 1);
}

/** Corrects the recorded number of segments. If segments are missing, starts the ingest again. */
async function recountSegments(context: RepairContext): Promise<void> {
  const { env, asset } = context;
  const segments = await listSegments(indexDatabase(env, asset), asset.assetId);
  const isContiguous = segments.every(({ position, startMs }, i) => {
    return position === i && startMs === (i === 0 ? segments[0]!.startMs : segments[i - 1]!.endMs);
  });
  const last = segments.at(-1);
  if (last && isContiguous && (last.endMs === null || last.endMs >= asset.durationMs)) {
    return updateProperties(env.DB, asset.assetId, { segments: segments.length });
  }
  const message = "Segments are gone: delete it, and add it again.";
  await restartOnce(context, { code: "internal", message });
}

const listAbout = ({ env, asset }: RepairContext, segmentIds: string[]) =>
  listSegmentsById(indexDatabase(env, asset), asset.assetId, segmentIds);

async function reextractKeyframes(context: RepairContext, segmentIds: string[]): Promise<void> {
  const { env, asset, checkpoint } = context;
  const segments = await listAbout(context, segmentIds);
  await inBatches(segments, INGEST.segmentsPerPart, checkpoint, async (batch) => {
    const missing = await restoreSignatures(env, asset, batch);
    await forEachKeyframe(env, asset, missing, async (segment, extract) => {
      await storeKeyframe(env, asset, segment, await extract());
    });
  });
}

/** Writes the signatures of stored keyframes. Returns the segments without a keyframe. */
export async function restoreSignatures(env: Env, asset: Asset, segments: Segment[]) {
  const withoutKeyframe: Segment[] = [];
  for (const segment of segments) {
    const jpeg = await getKeyframe(env.MEDIA, asset, segment.keyframeMs);
    if (jpeg) await storeKeyframe(env, asset, segment, jpeg);
    else withoutKeyframe.push(segment);
  }
  return withoutKeyframe;
}

/** A repair is one attempt: an error that may pass leaves the finding to the next traversal. */
const ATTEMPT = 1;

/** Describes keyframes and embeds their segments again. Throws the first error that remains. */
async function describeKeyframes(context: RepairContext, segmentIds: string[]): Promise<void> {
  const { env, asset, checkpoint } = context;
  let remaining: Failure | null = null;
  const segments = await listAbout(context, segmentIds);
  await inBatches(segments, INGEST.segmentsPerPart, checkpoint, async (batch) => {
    await describeSegments(env, asset, batch, ATTEMPT);
    const described = await listAbout(context, idsOf(batch));
    await putVectors(env, asset, described);
    for (const { error } of described) remaining ??= error;
  });
  await recordSummary(env, asset);
  throwIfFailed(remaining);
}

function throwIfFailed(failure: Failure | null | undefined): void {
  if (failure) throw new AppError(failure.code, failure.message);
}

async function recognizeFailedSpeech(context: RepairContext): Promise<void> {
  const { env, asset, checkpoint } = context;
  const recognized = await listRecognized(env.MEDIA, asset, countAudioChunks(asset));
  const parts = recognized.flatMap(({ error }, part) => (error ? [part] : []));
  await inBatches(parts, 1, checkpoint, async ([part]) =>
    recognizeSpeech(env, asset, part!, ATTEMPT),
  );
  const { DB } = env;
  if ((await getTranscript(DB, asset.assetId))?.source !== "asr") return; // uploaded since
  await putAsrTranscript(env, asset);
  await realignTranscript(context);
  await recordSummary(env, asset);
  throwIfFailed((await getTranscript(DB, asset.assetId))?.error);
}

/** Restores missing cues from the recognised speech. Throws `source_missing` without that. */
async function rebuildTranscript(context: RepairContext): Promise<void> {
  const { env, asset } = context;
  const transcript = await getTranscript(env.DB, asset.assetId);
  const stored = await listObjects(env.MEDIA, asrPrefix(asset));
  const isStored = stored.length > 0 && stored.length >= countAudioChunks(asset);
  if (transcript?.source !== "asr" || !isStored) {
    throw new AppError("source_missing", "The transcript is gone: give it again.");
  }
  await putAsrTranscript(env, asset);
  await realignTranscript(context);
}

async function realignTranscript(context: RepairContext): Promise<void> {
  await updateSpeech(context, await listMismatchedSegments(context.env, context.asset));
}

/** Writes transcripts of segments, and updates their vectors and those that ended jobs left. */
async function updateSpeech(
  { env, asset, jobId }: RepairContext,
  transcripts: Pick<Segment, "segmentId" | "transcript">[],
): Promise<void> {
  const { assetId, transcriptRevision: revision } = asset;
  const db = indexDatabase(env, asset);
  const abandoned = await listAbandonedJobs(env.DB, db, assetId, Date.now());
  const current = { assetId, revision, language: null };
  await setSegmentTranscripts(db, current, jobId, transcripts, abandoned);
  await resumeReembedding(env, assetId, jobId);
}

const FULL_TEXT_BATCH = 200;

async function rebuildFullText({ env, asset, checkpoint }: RepairContext, segmentIds: string[]) {
  const db = indexDatabase(env, asset);
  await inBatches(segmentIds, FULL_TEXT_BATCH, checkpoint, (batch) => reindexFullText(db, batch));
}

/**
 * Makes the vectors of the segments that findings name, and overwrites or deletes the old ones. A
 * text vector brings all text vectors of its segment, an image vector all image vectors. Throws
 * `source_missing` if keyframes are missing.
 */
async function reembedSegments(context: RepairContext, vectorIds: string[]): Promise<void> {
  const { env, asset, checkpoint } = context;
  const ids = toVectorIds(vectorIds);
  const [imageIds, textIds] = [ids.filter(isImageVector), ids.filter((id) => !isImageVector(id))];
  if (asset.assetType === "video") await updateSpeech(context, []);
  await recordVectors(indexDatabase(env, asset), ids, [], Date.now()); // also unexpected ones
  const inTextBatches = [...new Set(textIds.map(toSegmentId))];
  await inBatches(inTextBatches, INGEST.segmentsPerPart, checkpoint, (batch) =>
    reembedTexts(context, batch),
  );
  const inImageBatches = [...new Set(imageIds.map(toSegmentId))];
  await inBatches(inImageBatches, INGEST.segmentsPerPart, checkpoint, async (batch) =>
    putImageVectors(env, asset, await listAbout(context, batch)),
  );
}

/** Repeats while a transcript changes meanwhile, so that the last vectors are of the last text. */
async function reembedTexts(context: RepairContext, segmentIds: string[]): Promise<void> {
  const { env, asset } = context;
  for (let segments = await listAbout(context, segmentIds); segments.length > 0;) {
    await putTextVectors(env, asset, segments);
    const embedded = new Map(segments.map(({ segmentId, transcript }) => [segmentId, transcript]));
    const present = await listAbout(context, idsOf(segments));
    segments = present.filter(({ segmentId, transcript }) => {
      return embedded.get(segmentId) !== transcript;
    });
  }
}

/** A traversal waits for a rate limit, but not for the quota of a day or a month. */
const MAX_WAIT_SECONDS = 600;

type Code = FindingCode | IndexFindingCode;
type Counts = Partial<Record<Code, number>>;

/** Findings and repairs of a traversal so far: the result of its job. */
export type Report = ReturnType<typeof newReport>;

export function newReport() {
  return {
    assets: 0,
    findings: {} as Counts,
    repaired: {} as Counts,
    /**
     * Findings that couldn't be repaired: the first `LIFECYCLE.maxUnrepaired`.
     * `asset_id` and `title` are null for findings of the index.
     */
    unrepaired: [] as {
      asset_id: string | null;
      title: string | null;
      code: Code;
      message: string;
    }[],
  };
}

/**
 * Runs a repair and records its findings in the report. Throws only `SlicePaused` and the errors of
 * limits that pass within `MAX_WAIT_SECONDS`, and then records nothing.
 */
export async function recordRepair(
  report: Report,
  asset: Pick<Asset, "assetId" | "title"> | null,
  findings: Finding<Code>[],
  repair: () => Promise<unknown>,
): Promise<void> {
  const codes = findings.map(({ code }) => code);
  let message: string | null = null;
  try {
    await repair();
    count(report.repaired, codes);
  } catch (error) {
    const isWaiting = isDeferrable(error) && error.retryAfter <= MAX_WAIT_SECONDS;
    if (error instanceof SlicePaused || isWaiting) throw error;
    message = failureOf(error).message;
    const fields = { asset: asset?.assetId, code: codes[0], cause: traceOf(error) };
    log("warn", "lifecycle.repair_failed", fields);
  }
  count(report.findings, codes);
  if (message === null || report.unrepaired.length >= LIFECYCLE.maxUnrepaired) return;
  const { assetId = null, title = null } = asset ?? {};
  report.unrepaired.push({ asset_id: assetId, title, code: codes[0]!, message });
}

function count(counts: Counts, codes: Code[]): void {
  for (const code of codes) counts[code] = (counts[code] ?? 0) + 1;
}
