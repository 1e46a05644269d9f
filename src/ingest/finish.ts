import { AppError, type Failure } from "../errors.ts";
import { updateFacts } from "../store/assets.ts";
import { type SegmentSummary, summarizeSegments } from "../store/segments.ts";
import { dropSeen } from "../store/seen.ts";
import { getTranscript } from "../store/transcripts.ts";
import type { Asset } from "../types.ts";

/** Sums the asset up. Throws where no segment can be found by anything; the rest becomes warnings. */
export async function finish(env: Env, asset: Asset): Promise<void> {
  const summary = await summarizeSegments(env.DB, asset.assetId);
  const [worst] = summary.problems.toSorted((a, b) => b.count - a.count);
  if (summary.usable === 0) {
    throw new AppError(
      worst?.code ?? "nothing_indexed",
      worst?.first ?? "Nothing was found in it.",
    );
  }
  const transcript = await getTranscript(env.DB, asset.assetId);
  await updateFacts(env.DB, asset.assetId, {
    segments: summary.total,
    warnings: warningsOf(summary).concat(transcript?.problem ?? []),
    ...(summary.keyframeMs !== null && { keyframeMs: summary.keyframeMs }),
  });
  await dropSeen(env.MEDIA, asset);
}

function warningsOf({ problems, total }: SegmentSummary): Failure[] {
  return problems.map(({ code, count, first }) => {
    return { code, message: `${count} of ${total} segments can't be seen. ${first}` };
  });
}
