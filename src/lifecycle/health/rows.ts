import { AppError } from "../../errors.ts";
import { getArchive } from "../../store/archive.ts";
import { updateProperties } from "../../store/d1/assets.ts";
import { reindexFullText, type SegmentHealth } from "../../store/health.ts";
import { indexDatabase } from "../../store/index-database/index-database.ts";
import { listSegments } from "../../store/index-database/segments.ts";
import { hasPresentFacts, restoreFacts } from "../../store/mirror.ts";
import type { Asset } from "../../types.ts";
import { type Finding, findingAbout } from "../findings.ts";
import type { Repair } from "../repair-context.ts";
import { inBatches } from "../slice.ts";
import { restoreSegments } from "./archive.ts";

/** Compares the number of complete segments, their signatures and full text with the records. */
export function inspectRows(asset: Asset, segments: SegmentHealth[]): Finding[] {
  const findings: Finding[] = [];
  const { length } = segments.filter(({ isFinal }) => isFinal);
  if (length !== asset.segments || length !== segments.length) {
    const message = `The record says ${asset.segments} segments; there are ${length}.`;
    findings.push({ code: "segment_count_mismatch", message, about: [] });
  }
  const withoutSignature = segments.filter(({ described, hasKeyframe, hasSignature }) => {
    return described && hasKeyframe && !hasSignature;
  });
  const withoutFullText = segments.filter(({ caption, speech, text, indexed }) => {
    return caption + speech + text > 0 && !indexed;
  });
  return [
    ...findings,
    ...findingAbout(
      "signatures_missing",
      withoutSignature.map(({ segmentId }) => segmentId),
      "One segment can't be found by a copy of its keyframe.",
      (count) => `${count} segments can't be found by a copy of their keyframes.`,
    ),
    ...findingAbout(
      "fulltext_missing",
      withoutFullText.map(({ segmentId }) => segmentId),
      "One segment can't be found by its text.",
      (count) => `${count} segments can't be found by their text.`,
    ),
  ];
}

/** Checks that the index's database has the present facts of an asset. */
export async function inspectFacts(env: Env, asset: Asset): Promise<Finding[]> {
  if (await hasPresentFacts(env, asset)) return [];
  const message = "Searches have an outdated copy of the record.";
  return [{ code: "facts_mismatch", message, about: [] }];
}

/** Copies an asset's facts to its index's database. */
export const copyFacts: Repair = async ({ env, asset }) => {
  await restoreFacts(env, asset);
  return null;
};

/**
 * Inserts the segments that the archive record has, and corrects the recorded number. Throws
 * `internal` if segments are missing then: the record is right and the rows aren't.
 */
export const restoreAssetSegments: Repair = async ({ env, asset }) => {
  const record = await getArchive(env.MEDIA, asset);
  if (record) await restoreSegments(env, asset, record);
  const segments = await listSegments(indexDatabase(env, asset), asset.assetId);
  const isContiguous = segments.every(({ position, startMs }, i) => {
    return position === i && startMs === (i === 0 ? segments[0]!.startMs : segments[i - 1]!.endMs);
  });
  const last = segments.at(-1);
  if (!last || !isContiguous || (last.endMs !== null && last.endMs < asset.durationMs)) {
    throw new AppError("internal", "Segments are gone: delete it, and add it again.");
  }
  await updateProperties(env.DB, asset.assetId, { segments: segments.length });
  return null;
};

const FULL_TEXT_BATCH = 200;

/** Writes the full text of segments again. */
export const rebuildFullText: Repair = async ({ env, asset, checkpoint }, segmentIds) => {
  await inBatches(segmentIds, FULL_TEXT_BATCH, checkpoint, async (batch) => {
    await reindexFullText(indexDatabase(env, asset), batch);
  });
  return null;
};
