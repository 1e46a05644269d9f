import { BlobSource, EncodedPacketSink, Input, MP4 } from "mediabunny";
import type { LocalEnv } from "../../local/env.ts";
import { localImages } from "../../local/local-images.ts";
import { localMedia } from "../../local/local-media.ts";
import worker from "../../local/worker.ts";
import {
  getDurationSeconds,
  openContainer,
  requireVideoTrack,
} from "../../src/media/container/open-container.ts";
import { detectShots } from "../../src/media/shots/detect-shots.ts";
import { SHOTS } from "../../src/parameters.ts";
import type { Transition } from "../../src/types.ts";
import type { ShotResult } from "./shot-result.ts";

export * from "../../local/worker.ts";

const KEY = "bench/shots";

/**
 * The local Worker with one more path, `POST /shots?size_of=…`, which runs shot detection on the
 * video in the body as ingest does. FRAMES reads the size of a contact sheet as `size_of` says.
 */
export default {
  ...worker,
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname !== "/shots") return worker.fetch(request, env, ctx);
    await env.MEDIA.put(KEY, await request.arrayBuffer());
    const sizeOf = searchParams.get("size_of") ?? env.SHEET_SIZE_OF;
    return Response.json(await detectBodyShots({ ...env, SHEET_SIZE_OF: sizeOf }));
  },
} satisfies ExportedHandler<Env & LocalEnv>;

async function detectBodyShots(env: Env & LocalEnv): Promise<ShotResult> {
  const transitions: Transition[] = [];
  const frames = localMedia(env);
  const counts: Promise<number>[] = [];
  const FRAMES: MediaBinding = {
    input(media) {
      const [clip, copy] = media.tee();
      counts.push(countFrames(copy));
      return frames.input(clip);
    },
  };
  const seconds = await getDurationSeconds(env.MEDIA, KEY);
  for (let start = 0; start < seconds; start += SHOTS.windowSeconds) {
    const range = { start, end: Math.min(seconds, start + SHOTS.windowSeconds) };
    using input = await openContainer(env.MEDIA, KEY, range);
    const track = requireVideoTrack(input);
    const bindings = { ...env, FRAMES, IMAGES: localImages(env) };
    transitions.push(...(await detectShots(bindings, track, range)).transitions);
  }
  const frameCount = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  return { transitions, operationCount: counts.length, frameCount };
}

async function countFrames(clip: ReadableStream<Uint8Array>): Promise<number> {
  const source = new BlobSource(await new Response(clip).blob());
  using input = new Input({ source, formats: [MP4] });
  const sink = new EncodedPacketSink((await input.getPrimaryVideoTrack())!);
  let count = 0;
  for await (const _ of sink.packets(undefined, undefined, { metadataOnly: true })) count++;
  return count;
}
