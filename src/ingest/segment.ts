import { INGEST } from "../config.ts";
import { upsertSegments } from "../store/segments.ts";
import { getCues } from "../store/transcripts.ts";
import type { Asset } from "../types.ts";
import { cutEvenly, imageSegment, videoSegments } from "./cuts.ts";
import { spreadCues } from "./transcript.ts";

/** Cuts the asset into segments; resolves to the number of parts that describing them takes. */
export async function segment(env: Env, asset: Asset): Promise<number> {
  const segments =
    asset.assetType === "image" ? [await imageSegment(asset)] : await cutVideo(env, asset);
  await upsertSegments(env.DB, segments);
  return Math.ceil(segments.length / INGEST.partSegments);
}

async function cutVideo(env: Env, asset: Asset) {
  const cues = spreadCues(await getCues(env.MEDIA, asset), asset.durationMs / 1000);
  return videoSegments(asset, cutEvenly(asset.durationMs), cues);
}
