import { INGEST, SHOTS } from "../config.ts";
import { getSeen, type SeenStretch } from "../store/seen.ts";
import { listSegments, upsertSegments } from "../store/segments.ts";
import { getTranscript } from "../store/transcripts.ts";
import type { Asset } from "../types.ts";
import { cutAtShots, imageSegment, videoSegments } from "./cuts.ts";
import { keyframeOf } from "./keyframes.ts";
import { countPieces } from "./pieces.ts";
import type { FanOut } from "./state.ts";
import { countStretches } from "./stretches.ts";

/**
 * Cuts the asset into segments; what is cut already stays so, because what was seen and said goes by it. A
 * video that came with a transcript isn't listened to.
 */
export async function segment(env: Env, asset: Asset): Promise<FanOut> {
  const count =
    asset.assetType === "image" ? await cutImage(env, asset) : await cutVideo(env, asset);
  const parts = Math.ceil(count / INGEST.partSegments);
  const given = await getTranscript(env.DB, asset.assetId);
  const isHeard = given === null || given.source === "asr";
  return {
    listen: isHeard ? countPieces(asset) : 0,
    describe: parts,
    watch: countStretches(asset),
    embed: parts,
  };
}

async function cutImage(env: Env, asset: Asset): Promise<number> {
  await upsertSegments(env.DB, [await imageSegment(asset)]);
  return 1;
}

async function cutVideo(env: Env, asset: Asset): Promise<number> {
  const known = await listSegments(env.DB, asset.assetId, 0, Number.MAX_SAFE_INTEGER);
  if (known.at(-1)?.endMs === asset.durationMs) {
    await upsertSegments(env.DB, known);
    return known.length;
  }
  const seen = await listSeen(env, asset);
  const transitions = seen.flatMap((stretch) => stretch.transitions);
  const operations = seen.reduce((sum, stretch) => sum + stretch.operations, 0);
  const hours = asset.durationMs / 3_600_000;
  const allowed = Math.max(SHOTS.operations, Math.floor(SHOTS.operationsPerHour * hours));
  const cuts = cutAtShots(asset.durationMs, transitions, allowed - operations).map((cut) => {
    const { startMs, endMs } = cut;
    const near = seen.slice(stretchOf(startMs), stretchOf(endMs) + 1);
    const stills = near.flatMap((stretch) => stretch.stills);
    return { startMs, endMs, keyframeMs: keyframeOf(cut, stills, transitions) };
  });
  await upsertSegments(env.DB, await videoSegments(asset, cuts));
  return cuts.length;
}

async function listSeen({ MEDIA }: Env, asset: Asset): Promise<SeenStretch[]> {
  const seen: SeenStretch[] = [];
  for (let part = 0; part < countStretches(asset); part++) {
    seen.push((await getSeen(MEDIA, asset, part)) ?? NOTHING);
  }
  return seen;
}

const NOTHING: SeenStretch = { stills: [], transitions: [], operations: 0 };

function stretchOf(ms: number): number {
  return Math.floor(ms / 1000 / SHOTS.partSeconds);
}
