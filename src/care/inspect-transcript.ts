import { wordsOver } from "../ingest/transcribe.ts";
import { type StoredObject, transcriptKey } from "../store/media.ts";
import { listSegments } from "../store/segments.ts";
import { getCues, getTranscript } from "../store/transcripts.ts";
import type { Asset, Segment } from "../types.ts";
import { type Finding, findingAbout } from "./findings.ts";

/** Whether a video's cues are there, and its segments say what they say. */
export async function inspectTranscript(
  { DB, MEDIA }: Pick<Env, "DB" | "MEDIA">,
  asset: Asset,
  objects: StoredObject[],
): Promise<Finding[]> {
  const transcript = await getTranscript(DB, asset.assetId);
  if (!transcript || transcript.cues === 0) return [];
  const key = transcriptKey(asset, asset.transcriptJob);
  if (!objects.some((object) => object.key === key)) {
    return [{ code: "transcript_missing", message: "The stored transcript is gone.", about: [] }];
  }
  const said = await saidOtherwise({ DB, MEDIA }, asset);
  return findingAbout(
    "transcript_mismatched",
    said.map(({ segmentId }) => segmentId),
    "One segment doesn't say what the transcript says there.",
    (n) => `${n} segments don't say what the transcript says there.`,
  );
}

/** The segments of a video whose words aren't those of its cues, with those. */
export async function saidOtherwise(
  { DB, MEDIA }: Pick<Env, "DB" | "MEDIA">,
  asset: Asset,
): Promise<Pick<Segment, "segmentId" | "transcript">[]> {
  const [segments, cues] = await Promise.all([
    listSegments(DB, asset.assetId, 0, Number.MAX_SAFE_INTEGER),
    getCues(MEDIA, asset),
  ]);
  const words = wordsOver(asset, segments, cues);
  return words.filter(({ transcript }, i) => transcript !== segments[i]!.transcript);
}
