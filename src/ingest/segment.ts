import { INGEST } from "../config.ts";
import { upsertSegments } from "../store/segments.ts";
import { getTranscript } from "../store/transcripts.ts";
import type { Asset } from "../types.ts";
import { cutEvenly, imageSegment, videoSegments } from "./cuts.ts";
import { countPieces } from "./pieces.ts";
import type { FanOut } from "./state.ts";

/** Cuts the asset into segments. A video that came with a transcript isn't listened to. */
export async function segment(env: Env, asset: Asset): Promise<FanOut> {
  const segments =
    asset.assetType === "image"
      ? [await imageSegment(asset)]
      : await videoSegments(asset, cutEvenly(asset.durationMs));
  await upsertSegments(env.DB, segments);
  const parts = Math.ceil(segments.length / INGEST.partSegments);
  const given = await getTranscript(env.DB, asset.assetId);
  const isHeard = given === null || given.source === "asr";
  return { listen: isHeard ? countPieces(asset) : 0, describe: parts, watch: parts, embed: parts };
}
