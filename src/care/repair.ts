import { deleteKeys } from "../store/media.ts";
import { isWanted } from "../store/removals.ts";
import { reviseIndex } from "../store/traversals.ts";
import { forgetVectors, segmentOf } from "../store/vectors.ts";
import type { FindingCode } from "./findings.ts";
import { inspect } from "./inspect.ts";
import type { PictureSpace } from "./picture-space.ts";
import { purgeAsset } from "./purge.ts";
import { fetchSourceAgain, recount, restart, restartFailed } from "./repair-ingest.ts";
import { retakeKeyframes } from "./repair-keyframes.ts";
import { layAgain, rebuildTranscript } from "./repair-transcript.ts";
import { indexAgain, renewVectors } from "./repair-vectors.ts";
import { type Report, repairing } from "./report.ts";
import type { Fix, Work } from "./work.ts";

const deleteObjects: Fix = async ({ env }, keys) => {
  await deleteKeys(env.MEDIA, keys);
  return null;
};

/** In this order: each finds what those before it have made good. */
const FIXES: [FindingCode[], Fix][] = [
  [["ingest_failed"], restartFailed],
  [["ingest_stuck"], restart],
  [["source_missing", "source_truncated"], fetchSourceAgain],
  [["segments_miscounted"], recount],
  [["keyframes_missing", "signatures_missing"], retakeKeyframes],
  [["transcript_missing"], rebuildTranscript],
  [["transcript_mismatched"], layAgain],
  [["words_missing"], indexAgain],
  [["vectors_missing", "vectors_stale", "vectors_surplus"], renewVectors],
  [["objects_surplus"], deleteObjects],
];

/**
 * Makes good what is found of an asset, and notes it in `report`. What is well stays as it is, and can be
 * found all the while. Of one whose removal was begun, that is finished.
 */
export async function repairAsset(
  work: Work,
  space: PictureSpace,
  report: Report,
  now: number,
): Promise<void> {
  const { env, asset } = work;
  if (!(await isWanted(env.DB, asset.assetId))) return purgeAsset(env, asset, asset.assetId);
  const findings = await inspect(env, asset, space, now);
  for (const [codes, fix] of FIXES) {
    const own = findings.filter(({ code }) => codes.includes(code));
    if (own.length === 0) continue;
    const about = [...new Set(own.flatMap((finding) => finding.about))];
    await repairing(report, asset.assetId, own, () => fix(work, about));
  }
  if (findings.length === 0) return;
  await reviseIndex(env.DB, asset.indexId);
  if (await isWanted(env.DB, asset.assetId)) return;
  const ids = findings.flatMap(({ about }) => about).filter((id) => id.startsWith("seg_"));
  await forgetVectors(env, [...new Set(ids.map(segmentOf))]);
  await purgeAsset(env, asset, asset.assetId);
}
