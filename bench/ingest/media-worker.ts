import type { LocalEnv } from "../../local/env.ts";
import { localImages } from "../../local/local-images.ts";
import { localMedia } from "../../local/local-media.ts";
import worker from "../../local/worker.ts";
import { INGEST } from "../../src/config.ts";
import { trustedId } from "../../src/ids.ts";
import { forEachKeyframe, listSegmentsOfPart } from "../../src/ingest/steps/describe.ts";
import { indexFrames } from "../../src/ingest/steps/detect-shots.ts";
import { probe } from "../../src/ingest/steps/probe.ts";
import { segment } from "../../src/ingest/steps/segment.ts";
import { runPart } from "../../src/ingest/steps/step-runners.ts";
import { countAudioChunks, audioChunkAt } from "../../src/ingest/transcript/audio-chunks.ts";
import { countWindows } from "../../src/ingest/windows.ts";
import { cutAudio } from "../../src/media/container/audio.ts";
import { openContainer } from "../../src/media/container/open-container.ts";
import { computeSignature } from "../../src/media/pixels/image-signature.ts";
import { lumaPixels } from "../../src/media/pixels/jpeg.ts";
import { getAsset } from "../../src/store/d1/assets.ts";
import { indexDatabase } from "../../src/store/index-database/index-database.ts";
import { listSegments } from "../../src/store/index-database/segments.ts";
import { sourceKey } from "../../src/store/r2/object-keys.ts";
import type { Asset } from "../../src/types.ts";
import type { PartResult, MediaStep } from "./media-part.ts";
import { countOperations } from "./operation-counts.ts";

export * from "../../local/worker.ts";

/** Object whose existence pauses ingest. */
const PAUSE_KEY = "bench/paused";

/**
 * The local Worker with more paths. `POST /media?asset=…&step=…&part=…&read_latency_ms=…` does the
 * media work of one part, without models, and returns its measurements. `POST /hold` pauses the
 * ingest of uploads, `POST /go` resumes it.
 */
export default {
  ...worker,
  async queue(batch, env) {
    if (await env.MEDIA.head(PAUSE_KEY)) return batch.ackAll();
    return worker.queue(batch, env);
  },
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/hold") await env.MEDIA.put(PAUSE_KEY, "");
    if (pathname === "/go") await env.MEDIA.delete(PAUSE_KEY);
    if (pathname === "/hold" || pathname === "/go") return new Response(null, { status: 204 });
    if (pathname !== "/media") return worker.fetch(request, env, ctx);
    const asset = await getAsset(env.DB, trustedId(searchParams.get("asset") ?? ""));
    const step = searchParams.get("step") ?? "";
    if (!asset || !isStep(step)) return new Response("No such asset or step.", { status: 404 });
    const bindings = { ...env, FRAMES: localMedia(env), IMAGES: localImages(env) };
    const media = countOperations(bindings, Number(searchParams.get("read_latency_ms")));
    await STEPS[step](media.env, asset, Number(searchParams.get("part")));
    const latest = (await getAsset(env.DB, asset.assetId)) ?? asset;
    return Response.json({ ...(await toPartResult(env, latest)), counts: media.counts });
  },
} satisfies ExportedHandler<Env & LocalEnv>;

const STEPS: Record<MediaStep, (env: Env, asset: Asset, part: number) => Promise<unknown>> = {
  probe,
  detect_shots: (env, asset, part) => runPart("detect_shots", env, asset, part, 1),
  segment,
  cut_audio: cutAudioPart,
  keyframes: extractKeyframesPart,
  index_frames: indexFrames,
};

function isStep(step: string): step is MediaStep {
  return Object.hasOwn(STEPS, step);
}

/** Returns the duration and, as far as they are known, the part counts. */
async function toPartResult(env: Env, asset: Asset): Promise<Omit<PartResult, "counts">> {
  const { length } = await listSegments(indexDatabase(env, asset), asset.assetId);
  const windowCount = countWindows(asset);
  const partCounts = {
    probe: 1,
    detect_shots: windowCount,
    segment: 1,
    cut_audio: countAudioChunks(asset),
    keyframes: Math.ceil(length / INGEST.segmentsPerPart),
    index_frames: windowCount,
  };
  return { minutes: asset.durationMs / 60_000, segments: length, partCounts };
}

async function cutAudioPart(env: Env, asset: Asset, part: number): Promise<void> {
  const { clip } = audioChunkAt(asset, part);
  using input = await openContainer(env.MEDIA, sourceKey(asset), clip);
  if (input.audio) await cutAudio(input.audio, clip);
}

async function extractKeyframesPart(env: Env, asset: Asset, part: number): Promise<void> {
  const segments = await listSegmentsOfPart(env, asset, part);
  await forEachKeyframe(env, asset, segments, async (_, readKeyframe) => {
    computeSignature(await lumaPixels(await readKeyframe()));
  });
}
