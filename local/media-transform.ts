import * as z from "zod";
import { requestMedia, type EngineEnv, mediaError } from "./engine-client.ts";
import type { LocalEnv } from "./env.ts";
import { passStream } from "./faults.ts";
import { getContentType, outputSeconds, type Output, type Size } from "./media-options.ts";

const MAX_INPUT_BYTES = 100_000_000;
const MAX_INPUT_SECONDS = 600;
const MAX_COLUMNS = 12;
const DEFAULT_IMAGES = 12;
const HASHED_BYTES = 4096;

const Probe = z.object({
  container: z.string(),
  duration_seconds: z
    .number()
    .nullable()
    .transform((seconds) => seconds ?? Infinity),
  video: z.object({ codec: z.string(), width: z.number(), height: z.number() }).nullable(),
  audio: z.object({ codec: z.string() }).nullable(),
});
type Probe = z.infer<typeof Probe>;
type VideoStream = NonNullable<Probe["video"]>;

export type TransformEnv = EngineEnv &
  Pick<LocalEnv, "SHEET_SIZE_OF" | "MAX_IMAGE_COUNT" | "FRAMES_DECODES" | "FAULTS">;

export interface Transformed {
  body: ReadableStream<Uint8Array>;
  contentType: string;
}

/**
 * Reads the input, rejects it if production does, and lets the engine make the output. A frame or
 * contact sheet comes with the input's facts in a header, so the input is sent once. Before
 * encoding a clip or audio, the input is probed by a request of its own.
 */
export async function transformMedia(
  env: TransformEnv,
  media: ReadableStream<Uint8Array>,
  size: Size,
  output: Output,
): Promise<Transformed> {
  const { input, hash } = await readInput(env, media);
  const contentType = getContentType(output);
  if (output.mode === "frame" || output.mode === "spritesheet") {
    const response = await requestMedia(env, imagePath(env, size, output, hash), input);
    const probe = Probe.parse(JSON.parse(response.headers.get("x-media-facts") ?? "null"));
    try {
      checkInput(env, probe, output);
    } catch (error) {
      await response.body?.cancel();
      throw error;
    }
    return { body: bodyOf(response), contentType };
  }
  const probe = Probe.parse(await (await requestMedia(env, "/media/probe", input)).json());
  const path = encodedPath(size, output, checkInput(env, probe, output), probe.duration_seconds);
  return { body: bodyOf(await requestMedia(env, path, input)), contentType };
}

function bodyOf({ body }: Response): ReadableStream<Uint8Array> {
  if (!body) throw mediaError(9523, "internal error");
  return body;
}

/**
 * Reads a stream into one buffer: this runs in the Worker's isolate, which has no room for copies.
 * Whether production takes a stream of unknown length isn't documented: this doesn't.
 */
async function readInput(
  env: TransformEnv,
  media: ReadableStream<Uint8Array>,
): Promise<{ input: Uint8Array<ArrayBuffer>; hash: number }> {
  const passed = await passStream(env, media);
  if (!passed) throw mediaError(9401, "the length of the input isn't known");
  if (passed.length >= MAX_INPUT_BYTES) {
    await passed.body.cancel();
    throw mediaError(9402, "the video must be smaller than 100 MB");
  }
  const input = new Uint8Array(passed.length);
  let read = 0;
  for await (const chunk of passed.body) {
    input.set(chunk, read);
    read += chunk.byteLength;
  }
  return { input, hash: fnv1a(input.subarray(-HASHED_BYTES)) };
}

function checkInput(
  { FRAMES_DECODES }: TransformEnv,
  { container, duration_seconds, video, audio }: Probe,
  { time }: Output,
): VideoStream {
  if (!video) throw mediaError(9412, "the input is not a video");
  if (!/mp4/.test(container) || !["h264", ...FRAMES_DECODES.split(",")].includes(video.codec)) {
    throw mediaError(9412, `unsupported video: ${video.codec} in ${container}`);
  }
  if (audio && !/^(aac|mp3)/.test(audio.codec)) {
    throw mediaError(9412, `unsupported audio: ${audio.codec}`);
  }
  if (duration_seconds > MAX_INPUT_SECONDS) {
    throw mediaError(9402, "the video must be at most 10 minutes long");
  }
  if (time >= duration_seconds) {
    throw mediaError(9401, `time is beyond the end of the video (${duration_seconds} s)`);
  }
  return video;
}

function imagePath(
  { SHEET_SIZE_OF: size_of }: TransformEnv,
  size: Size,
  output: Output,
  hash: number,
): string {
  const { mode, time, format, imageCount: count = DEFAULT_IMAGES } = output;
  if (mode === "frame") return path("frame", { time, ...size, format });
  const columns = 1 + ((hash + Math.floor(time * 1000)) % Math.min(count, MAX_COLUMNS));
  const duration = outputSeconds(output, Infinity);
  return path("sheet", { time, duration, count, columns, ...size, size_of, format });
}

function encodedPath(size: Size, output: Output, video: VideoStream, inputSeconds: number): string {
  const { mode, time, audio } = output;
  const duration = outputSeconds(output, inputSeconds);
  if (mode === "audio") return path("audio", { time, duration });
  return path("clip", { time, duration, width: clipWidth(size, video), audio });
}

/** Returns the width to scale a clip to; undefined keeps its size. The engine can't crop clips. */
function clipWidth({ width, height, fit }: Size, video: VideoStream): number | undefined {
  if (width === undefined && height === undefined) return undefined;
  if (fit === "cover" && width !== undefined && height !== undefined) {
    throw mediaError(9523, "cropping a clip (fit: cover) has no local stand-in");
  }
  const { width: videoWidth, height: videoHeight } = video;
  const fitted = Math.min(width ?? Infinity, ((height ?? Infinity) * videoWidth) / videoHeight);
  return Math.round(fit === "scale-down" ? Math.min(fitted, videoWidth) : fitted);
}

function path(
  operation: string,
  values: Record<string, string | number | boolean | undefined>,
): string {
  const parameters = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return `/media/${operation}?${new URLSearchParams(parameters).toString()}`;
}

/** Hashes bytes by 32-bit FNV-1a, so that an input always gets the same sheet layout. */
function fnv1a(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
