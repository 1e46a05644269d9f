import { BlobSource, EncodedPacketSink, Input, MP4 } from "mediabunny";
import type { LocalEnv } from "../../local/env.ts";
import { localImages } from "../../local/local-images.ts";
import { localMedia } from "../../local/local-media.ts";
import worker from "../../local/worker.ts";
import { SHOTS } from "../../src/config.ts";
import { durationOf, openContainer, requireVideoTrack } from "../../src/media/container.ts";
import { lookThrough } from "../../src/media/shots.ts";
import type { Transition } from "../../src/types.ts";
import type { Watched } from "./watched.ts";

export * from "../../local/worker.ts";

const KEY = "bench/shots";

/** The local Worker with one more path, `POST /shots`, which looks through the video in its body as ingest does. */
export default {
  ...worker,
  async fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    if (pathname !== "/shots") return worker.fetch(request, env, ctx);
    await env.MEDIA.put(KEY, await request.arrayBuffer());
    return Response.json(await watch(env));
  },
} satisfies ExportedHandler<Env & LocalEnv>;

async function watch(env: Env & LocalEnv): Promise<Watched> {
  const transitions: Transition[] = [];
  const frames = localMedia(env);
  const counts: Promise<number>[] = [];
  const FRAMES: MediaBinding = {
    input(media) {
      const [clip, counted] = media.tee();
      counts.push(countPictures(counted));
      return frames.input(clip);
    },
  };
  const seconds = await durationOf(env.MEDIA, KEY);
  for (let from = 0; from < seconds; from += SHOTS.partSeconds) {
    const region = { from, to: Math.min(seconds, from + SHOTS.partSeconds) };
    using input = await openContainer(env.MEDIA, KEY, region);
    const track = await requireVideoTrack(input);
    const bindings = { ...env, FRAMES, IMAGES: localImages(env) };
    transitions.push(...(await lookThrough(bindings, track, region)).transitions);
  }
  const pictures = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  return { transitions, operations: counts.length, pictures };
}

async function countPictures(clip: ReadableStream<Uint8Array>): Promise<number> {
  const source = new BlobSource(await new Response(clip).blob());
  using input = new Input({ source, formats: [MP4] });
  const sink = new EncodedPacketSink(await requireVideoTrack(input));
  let count = 0;
  for await (const _ of sink.packets(undefined, undefined, { metadataOnly: true })) count++;
  return count;
}
