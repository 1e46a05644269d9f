import type { LocalEnv } from "../../local/env.ts";
import { localImages } from "../../local/local-images.ts";
import { localMedia } from "../../local/local-media.ts";
import worker from "../../local/worker.ts";
import { INGEST } from "../../src/config.ts";
import { ours } from "../../src/ids.ts";
import { look } from "../../src/ingest/look.ts";
import { countPieces, pieceAt } from "../../src/ingest/pieces.ts";
import { probe } from "../../src/ingest/probe.ts";
import { segment } from "../../src/ingest/segment.ts";
import { countStretches } from "../../src/ingest/stretches.ts";
import { eachKeyframe } from "../../src/ingest/take-keyframes.ts";
import { watch } from "../../src/ingest/watch.ts";
import { openContainer } from "../../src/media/container.ts";
import { greyPixels } from "../../src/media/pixels.ts";
import { signPicture } from "../../src/media/signature.ts";
import { cutSound, getAudioTrack } from "../../src/media/sound.ts";
import { getAsset } from "../../src/store/assets.ts";
import { sourceKey } from "../../src/store/media.ts";
import { listSegments } from "../../src/store/segments.ts";
import type { Asset } from "../../src/types.ts";
import { counted } from "./counted.ts";
import type { Done, MediaStep } from "./media-part.ts";

export * from "../../local/worker.ts";

/** While there is such an object, nothing is ingested by itself. */
const HELD = "bench/held";

/**
 * The local Worker with one more path, `POST /media?asset=…&step=…&part=…`, which does what an ingest does to
 * a video's bytes, without asking a model, and tells what it took; `POST /hold` and `POST /go` say whether
 * what is uploaded is ingested by itself.
 */
export default {
  ...worker,
  async queue(batch, env) {
    if (await env.MEDIA.head(HELD)) return batch.ackAll();
    return worker.queue(batch, env);
  },
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/hold") await env.MEDIA.put(HELD, "");
    if (pathname === "/go") await env.MEDIA.delete(HELD);
    if (pathname === "/hold" || pathname === "/go") return new Response(null, { status: 204 });
    if (pathname !== "/media") return worker.fetch(request, env, ctx);
    const asset = await getAsset(env.DB, ours(searchParams.get("asset") ?? ""));
    const step = searchParams.get("step") ?? "";
    if (!asset || !isStep(step)) return new Response("No such asset or step.", { status: 404 });
    const media = counted({ ...env, FRAMES: localMedia(env), IMAGES: localImages(env) });
    await STEPS[step](media.env, asset, Number(searchParams.get("part")));
    const known = (await getAsset(env.DB, asset.assetId)) ?? asset;
    return Response.json({ ...(await measuresOf(env, known)), counts: media.counts });
  },
} satisfies ExportedHandler<Env & LocalEnv>;

const STEPS: Record<MediaStep, (env: Env, asset: Asset, part: number) => Promise<unknown>> = {
  probe,
  look: (env, asset, part) => look(env, asset, part, 1),
  segment,
  sound: takeSound,
  keyframes: takeKeyframes,
  watch,
};

function isStep(step: string): step is MediaStep {
  return Object.hasOwn(STEPS, step);
}

/** How long it is, and into how many parts each step falls, as far as that is known. */
async function measuresOf({ DB }: Env, asset: Asset): Promise<Omit<Done, "counts">> {
  const { length } = await listSegments(DB, asset.assetId, 0, Number.MAX_SAFE_INTEGER);
  const stretches = countStretches(asset);
  const parts = {
    probe: 1,
    look: stretches,
    segment: 1,
    sound: countPieces(asset),
    keyframes: Math.ceil(length / INGEST.partSegments),
    watch: stretches,
  };
  return { minutes: asset.durationMs / 60_000, segments: length, parts };
}

async function takeSound(env: Env, asset: Asset, part: number): Promise<void> {
  const { from, to } = pieceAt(asset, part);
  using input = await openContainer(env.MEDIA, sourceKey(asset), { from, to });
  const track = await getAudioTrack(input);
  if (track) await cutSound(track, from, to);
}

async function takeKeyframes(env: Env, asset: Asset, part: number): Promise<void> {
  const from = part * INGEST.partSegments;
  const segments = await listSegments(env.DB, asset.assetId, from, from + INGEST.partSegments);
  await eachKeyframe(env, asset, segments, async (_, take) => {
    signPicture(await greyPixels(env.IMAGES, new Blob([await take()]).stream()));
  });
}
