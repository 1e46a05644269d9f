import { AppError, type Failure } from "../../errors.ts";
import { updateFacts } from "../../store/assets.ts";
import { type SegmentSummary, summarizeSegments } from "../../store/segments.ts";
import { deleteAnalyses } from "../../store/window-analysis.ts";
import { getTranscript } from "../../store/transcripts.ts";
import type { Asset } from "../../types.ts";

/**
 * Records segment count, warnings and poster keyframe of an asset, and deletes its analyses. Throws
 * if no segment can be found by any search: other failures become warnings.
 */
export async function finish(env: Env, asset: Asset): Promise<void> {
  const summary = await summarizeSegments(env.DB, asset.assetId);
  const [mainError] = summary.errors.toSorted((a, b) => b.count - a.count);
  if (summary.usable === 0) {
    throw new AppError(
      mainError?.code ?? "nothing_indexed",
      mainError?.first ?? "Nothing was found in it.",
    );
  }
  const transcript = await getTranscript(env.DB, asset.assetId);
  await updateFacts(env.DB, asset.assetId, {
    segments: summary.total,
    warnings: toWarnings(summary).concat(transcript?.error ?? []),
    ...(summary.keyframeMs !== null && { keyframeMs: summary.keyframeMs }),
  });
  await deleteAnalyses(env.MEDIA, asset);
}

function toWarnings({ errors, total }: SegmentSummary): Failure[] {
  return errors.map(({ code, count, first }) => {
    return { code, message: `${count} of ${total} segments can't be described. ${first}` };
  });
}
