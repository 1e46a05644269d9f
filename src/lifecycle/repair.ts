import { archiveAsset, recordContentChange } from "../store/archive.ts";
import { incrementRevision } from "../store/d1/traversals.ts";
import { isAssetLive } from "../store/deletions.ts";
import { recountBytes } from "../store/recount-bytes.ts";
import { vectorPair } from "../store/vectorize/vector-pairs.ts";
import { deleteSegmentVectors, toSegmentId } from "../store/vectorize/vectors.ts";
import type { FindingCode } from "./findings.ts";
import { rewriteArchive } from "./health/archive.ts";
import { describeKeyframes, recognizeFailedSpeech } from "./health/failures.ts";
import { restartFailed, restartStuck } from "./health/ingest.ts";
import { deleteObjects, reconvert, reextractKeyframes, refetchSource } from "./health/objects.ts";
import { copyFacts, rebuildFullText, restoreAssetSegments } from "./health/rows.ts";
import { realignTranscript, rebuildTranscript } from "./health/transcript.ts";
import { reembedSegments } from "./health/vectors.ts";
import type { ImageModel } from "./image-model.ts";
import { inspectAsset } from "./inspect.ts";
import { purgeAsset } from "./purge.ts";
import type { Repair, RepairContext } from "./repair-context.ts";
import { recordRepair, type Report } from "./report.ts";

/** Repairs by finding, in order: each may need what the ones before it have restored. */
const REPAIRS: [FindingCode[], Repair][] = [
  [["ingest_failed"], restartFailed],
  [["ingest_stuck"], restartStuck],
  [["source_missing", "source_truncated"], refetchSource],
  [["working_copy_missing"], reconvert],
  [["facts_mismatch"], copyFacts],
  [["segment_count_mismatch"], restoreAssetSegments],
  [["keyframes_missing", "signatures_missing"], reextractKeyframes],
  [["keyframes_undescribed"], describeKeyframes],
  [["sound_unrecognized"], recognizeFailedSpeech],
  [["transcript_missing"], rebuildTranscript],
  [["transcript_mismatch"], realignTranscript],
  [["fulltext_missing"], rebuildFullText],
  [["vectors_missing", "vectors_stale", "vectors_unexpected"], reembedSegments],
  [["objects_unreferenced"], deleteObjects],
  [["archive_outdated"], rewriteArchive],
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
  try {
    for (const [codes, repair] of REPAIRS) {
      const repairable = findings.filter(({ code }) => codes.includes(code));
      if (repairable.length === 0) continue;
      const about = [...new Set(repairable.flatMap((finding) => finding.about))];
      await recordRepair(report, asset, repairable, () => repair(context, about));
      if (repair === restoreAssetSegments) {
        findings = await inspectAsset(env, asset, imageModel, now); // what new segments lack
      }
    }
  } finally {
    await incrementRevision(env.DB, asset.indexId);
    await recordContentChange(env.DB, asset);
  }
  if (asset.state === "ready") await archiveAsset(env, asset);
  await recountBytes(env, asset);
  if (await isAssetLive(env.DB, asset.assetId)) return;
  const ids = findings.flatMap(({ about }) => about).filter((id) => id.startsWith("seg_"));
  await deleteSegmentVectors(vectorPair(env, asset), [...new Set(ids.map(toSegmentId))]);
  await purgeAsset(env, asset);
}
