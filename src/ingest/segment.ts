import { CONNECTIONS, mapAtOnce } from "../at-once.ts";
import { INGEST, SHOTS } from "../config.ts";
import { getSeen, type SeenStretch } from "../store/seen.ts";
import { listSegments, upsertSegments } from "../store/segments.ts";
import { getCues, getTranscript } from "../store/transcripts.ts";
import type { Asset, Cue } from "../types.ts";
import { cutAtShots, imageSegment, videoSegments } from "./cuts.ts";
import { keyframeOf } from "./keyframes.ts";
import { silencesOf } from "./pauses.ts";
import { countPieces } from "./pieces.ts";
import { openSeen } from "./seen-stills.ts";
import type { FanOut } from "./state.ts";
import { countStretches, stretchOf } from "./stretches.ts";
import { spreadCues } from "./transcript.ts";

/**
 * Cuts the asset into segments; what is cut already stays so, because what was seen and said goes by it. A
 * video that came with a transcript isn't listened to, unless that has no times: it gets them from what is heard.
 */
export async function segment(env: Env, asset: Asset): Promise<FanOut> {
  const given = await givenCues(env, asset);
  const timed = given?.every(({ start }) => !Number.isNaN(start)) ? given : null;
  const count =
    asset.assetType === "image"
      ? await cutImage(env, asset)
      : await cutVideo(env, asset, timed ?? []);
  const parts = Math.ceil(count / INGEST.partSegments);
  return {
    listen: timed ? 0 : countPieces(asset),
    describe: parts,
    watch: countStretches(asset),
    embed: parts,
  };
}

async function cutImage(env: Env, asset: Asset): Promise<number> {
  await upsertSegments(env.DB, [await imageSegment(asset)]);
  return 1;
}

/** The cues that came with the video; null where none did. */
async function givenCues(env: Env, asset: Asset): Promise<Cue[] | null> {
  const given = await getTranscript(env.DB, asset.assetId);
  return given === null || given.source === "asr" ? null : getCues(env.MEDIA, asset);
}

async function cutVideo(env: Env, asset: Asset, cues: Cue[]): Promise<number> {
  const known = await listSegments(env.DB, asset.assetId, 0, Number.MAX_SAFE_INTEGER);
  if (known.at(-1)?.endMs === asset.durationMs) {
    await upsertSegments(env.DB, known);
    return known.length;
  }
  const stretches = await listSeen(env, asset);
  const seen = openSeen(env.MEDIA, asset, stretches);
  const transitions = stretches.flatMap((stretch) => stretch.transitions);
  const operations = stretches.reduce((sum, stretch) => sum + stretch.operations, 0);
  const hours = asset.durationMs / 3_600_000;
  const allowed = Math.max(SHOTS.operations, Math.floor(SHOTS.operationsPerHour * hours));
  const spoken = spreadCues(cues, asset.durationMs / 1000);
  const silences = silencesOf(spoken, asset.durationMs);
  const sights = { seen, transitions, silences };
  const cuts = (await cutAtShots(asset.durationMs, sights, allowed - operations)).map((cut) => {
    const { startMs, endMs } = cut;
    const near = stretches.slice(Math.max(0, stretchOf(startMs) - 1), stretchOf(endMs) + 1);
    const reaching = near.flatMap((stretch) => stretch.transitions);
    return { startMs, endMs, keyframeMs: keyframeOf(cut, seen.within(cut), reaching) };
  });
  await upsertSegments(env.DB, await videoSegments(asset, cuts));
  return cuts.length;
}

function listSeen({ MEDIA }: Env, asset: Asset): Promise<SeenStretch[]> {
  const parts = Array.from({ length: countStretches(asset) }, (_, part) => part);
  return mapAtOnce(
    parts,
    CONNECTIONS,
    async (part) => (await getSeen(MEDIA, asset, part)) ?? NOTHING,
  );
}

const NOTHING: SeenStretch = { stills: [], transitions: [], operations: 0 };
