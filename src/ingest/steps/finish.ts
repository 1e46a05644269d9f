import { assetKind, isAudioOnly } from "../../asset-kind.ts";
import { AppError, type Failure } from "../../errors.ts";
import { updateProperties } from "../../store/d1/assets.ts";
import { recountBytes } from "../../store/d1/quotas.ts";
import { openShardIfFull } from "../../store/d1/shards.ts";
import { indexDatabase } from "../../store/index-database/index-database.ts";
import { type SegmentSummary, summarizeSegments } from "../../store/index-database/segments.ts";
import { deleteAnalyses } from "../../store/r2/window-analysis.ts";
import { getTranscript } from "../../store/transcripts.ts";
import type { Asset } from "../../types.ts";
import { publicSource } from "../../url-credentials.ts";
import { startPlaybackCopyIfNeeded } from "../conversion.ts";
import { storeStoryboard } from "../storyboard.ts";
import { isTranscriptWarning } from "../transcript/cue-times.ts";

/**
 * Makes the storyboard of a video, records the summary of an asset's segments, deletes the analyses
 * and what opens the URL of its file, counts the stored bytes, opens another shard for new assets
 * if the asset's is full, and starts the job of a copy that browsers play.
 */
export async function finish(env: Env, asset: Asset): Promise<void> {
  if (assetKind(asset) === "video") await storeStoryboard(env, asset);
  await recordSummary(env, asset);
  await deleteAnalyses(env.MEDIA, asset);
  await recountBytes(env, asset);
  await updateProperties(env.DB, asset.assetId, { source: publicSource(asset.source) });
  await openShardIfFull(env, asset, await indexDatabase(env, asset).size());
  await startPlaybackCopyIfNeeded(env, asset);
}

/**
 * Records segment count, warnings and poster keyframe of an asset. Throws if no segment can be
 * found by any search: other failures become warnings, as does sound without speech, which plays.
 */
export async function recordSummary(env: Env, asset: Asset): Promise<void> {
  const summary = await summarizeSegments(indexDatabase(env, asset), asset.assetId);
  const isSilent = isAudioOnly(asset) && summary.usable === 0;
  const [mainError] = summary.errors.toSorted((a, b) => b.count - a.count);
  if (summary.usable === 0 && !isSilent) {
    throw new AppError(
      mainError?.code ?? "nothing_indexed",
      mainError?.first ?? "Nothing was found in it.",
    );
  }
  const transcript = await getTranscript(env.DB, asset.assetId);
  await updateProperties(env.DB, asset.assetId, {
    segments: summary.total,
    warnings: [
      ...asset.warnings.filter(isTranscriptWarning),
      ...asset.warnings.filter(({ code }) => code === "incomplete_media"),
      ...toWarnings(asset, summary),
      ...(transcript?.error ? [transcript.error] : isSilent ? [NOTHING_SAID] : []),
    ],
    ...(summary.keyframeMs !== null && { keyframeMs: summary.keyframeMs }),
  });
}

const NOTHING_SAID: Failure = {
  code: "nothing_indexed",
  message: "No speech was recognised in it: only its name finds it. Send a transcript.",
};

function toWarnings({ assetType }: Asset, { errors, total }: SegmentSummary): Failure[] {
  return errors.map(({ code, count, first }) => {
    const subject = assetType === "image" ? "The image" : `${count} of ${total} segments`;
    return { code, message: `${subject} can't be described. ${first}` };
  });
}
