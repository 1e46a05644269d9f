import { updateProperties } from "../../store/d1/assets.ts";
import { getCues, getTranscript, putCues } from "../../store/transcripts.ts";
import type { Asset } from "../../types.ts";
import { fitCues } from "./warnings.ts";

/**
 * Fits the transcript that came with a video to its length, as `fitCues` does, and warns on the
 * asset. The warning is stored before the cues, so that a second run changes nothing.
 */
export async function fitTranscript(env: Env, asset: Asset): Promise<void> {
  const transcript = await getTranscript(env.DB, asset.assetId);
  if (transcript === null || transcript.source === "asr") return;
  const given = await getCues(env.MEDIA, asset);
  const { cues, warnings } = fitCues(given, asset.durationMs / 1000);
  const codes = new Set(warnings.map(({ code }) => code));
  if (codes.size === 0) return;
  const others = asset.warnings.filter(({ code }) => !codes.has(code));
  await updateProperties(env.DB, asset.assetId, { warnings: [...others, ...warnings] });
  if (cues !== given) await putCues(env.MEDIA, asset, cues, asset.transcriptJobId);
}
