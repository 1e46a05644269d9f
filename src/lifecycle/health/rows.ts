import { AppError } from "../../errors.ts";
import { indexFullText } from "../../store/fulltext.ts";
import { recountSegments, type SegmentHealth } from "../../store/health.ts";
import { listSegments, listSegmentsById } from "../../store/segments.ts";
import type { Asset } from "../../types.ts";
import { type Finding, findingAbout } from "../findings.ts";
import { inBatches, type Repair } from "../repair-context.ts";

/** Compares the number of segments, their signatures and their full-text rows with the records. */
export function inspectRows(asset: Asset, segments: SegmentHealth[]): Finding[] {
  const findings: Finding[] = [];
  if (segments.length !== asset.segments) {
    const message = `The record says ${asset.segments} segments; there are ${segments.length}.`;
    findings.push({ code: "segment_count_mismatch", message, about: [] });
  }
  const withoutSignature = segments.filter(({ described, hasSignature }) => {
    return described && !hasSignature;
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

/**
 * Corrects the recorded number of segments. Throws `internal` if segments are missing: then the
 * record is right and the rows aren't.
 */
export const recountAssetSegments: Repair = async ({ env, asset }) => {
  const segments = await listSegments(env.DB, asset.assetId, 0, Number.MAX_SAFE_INTEGER);
  const isContiguous = segments.every(({ position, startMs }, i) => {
    return position === i && startMs === (i === 0 ? segments[0]!.startMs : segments[i - 1]!.endMs);
  });
  const last = segments.at(-1);
  if (!last || !isContiguous || (last.endMs !== null && last.endMs < asset.durationMs)) {
    throw new AppError("internal", "Segments are gone: delete it, and add it again.");
  }
  await recountSegments(env.DB, asset.assetId);
  return null;
};

const FULL_TEXT_BATCH = 200;

/** Writes the full-text rows of segments from their present text. */
export const rebuildFullText: Repair = async ({ env, asset, checkpoint }, segmentIds) => {
  await inBatches(segmentIds, FULL_TEXT_BATCH, checkpoint, async (batch) => {
    await indexFullText(env.DB, await listSegmentsById(env.DB, asset.assetId, batch));
  });
  return null;
};
