import { AppError, type Failure } from "../../errors.ts";
import { archiveAsset } from "../../store/archive.ts";
import { updateProperties } from "../../store/assets.ts";
import { indexDatabase } from "../../store/index-database.ts";
import { type SegmentSummary, summarizeSegments } from "../../store/segments.ts";
import { openShardIfFull } from "../../store/shards.ts";
import { deleteAnalyses } from "../../store/window-analysis.ts";
import { getTranscript } from "../../store/transcripts.ts";
import type { Asset } from "../../types.ts";

/**
 * Records the summary of an asset's segments, writes the archive record, deletes the analyses, and
 * opens another shard for new assets if the asset's is full.
 */
export async function finish(env: Env, asset: Asset): Promise<void> {
  await recordSummary(env, asset);
  await archiveAsset(env, asset);
  await deleteAnalyses(env.MEDIA, asset);
  await openShardIfFull(env, asset, await indexDatabase(env, asset).size());
}

/**
 * Records segment count, warnings and poster keyframe of an asset. Throws if no segment can be
 * found by any search: other failures become warnings.
 */
export async function recordSummary(env: Env, asset: Asset): Promise<void> {
  const summary = await summarizeSegments(indexDatabase(env, asset), asset.assetId);
  const [mainError] = summary.errors.toSorted((a, b) => b.count - a.count);
  if (summary.usable === 0) {
    throw new AppError(
      mainError?.code ?? "nothing_indexed",
      mainError?.first ?? "Nothing was found in it.",
    );
  }
  const transcript = await getTranscript(env.DB, asset.assetId);
  await updateProperties(env.DB, asset.assetId, {
    segments: summary.total,
    warnings: toWarnings(asset, summary).concat(transcript?.error ?? []),
    ...(summary.keyframeMs !== null && { keyframeMs: summary.keyframeMs }),
  });
}

function toWarnings({ assetType }: Asset, { errors, total }: SegmentSummary): Failure[] {
  return errors.map(({ code, count, first }) => {
    const subject = assetType === "image" ? "The image" : `${count} of ${total} segments`;
    return { code, message: `${subject} can't be described. ${first}` };
  });
}
