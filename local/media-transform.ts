import { z } from "zod";
import { askForMedia, type EngineEnv, mediaError } from "./engine-client.ts";
import { contentTypeOf, outputSeconds, type Output, type Size } from "./media-options.ts";

const MAX_INPUT_BYTES = 100_000_000;
const MAX_INPUT_SECONDS = 600;
const MAX_COLUMNS = 12;
const DEFAULT_IMAGES = 12;
const HASHED_BYTES = 4096;

const Probe = z.object({
  container: z.string(),
  duration_seconds: z.number(),
  video: z.object({ codec: z.string(), width: z.number(), height: z.number() }).nullable(),
  audio: z.object({ codec: z.string() }).nullable(),
});
type Probe = z.infer<typeof Probe>;
type Picture = NonNullable<Probe["video"]>;

export interface Transformed {
  body: ReadableStream<Uint8Array>;
  contentType: string;
}

/** Reads the input, refuses what production refuses, and has the engine make the output. */
export async function transformMedia(
  env: EngineEnv,
  media: ReadableStream<Uint8Array>,
  size: Size,
  output: Output,
): Promise<Transformed> {
  const { input, hash } = await readInput(media);
  const probe = Probe.parse(await (await askForMedia(env, "/media/probe", input)).json());
  const picture = checkInput(probe);
  if (output.time >= probe.duration_seconds) {
    throw mediaError(9401, `time is beyond the end of the video (${probe.duration_seconds} s)`);
  }
  const path = enginePath(
    size,
    output,
    picture,
    outputSeconds(output, probe.duration_seconds),
    hash,
  );
  const response = await askForMedia(env, path, input);
  if (!response.body) throw mediaError(9523, "internal error");
  return { body: response.body, contentType: contentTypeOf(output) };
}

async function readInput(
  media: ReadableStream<Uint8Array>,
): Promise<{ input: Blob; hash: number }> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of media) {
    bytes += chunk.byteLength;
    if (bytes >= MAX_INPUT_BYTES) throw mediaError(9402, "the video must be smaller than 100 MB");
    chunks.push(chunk);
  }
  const input = new Blob(chunks);
  const sample = new Uint8Array(await input.slice(-HASHED_BYTES).arrayBuffer());
  return { input, hash: fnv1a(sample) };
}

function checkInput({ container, duration_seconds, video, audio }: Probe): Picture {
  if (!video) throw mediaError(9412, "the input is not a video");
  if (!/mp4/.test(container) || video.codec !== "h264") {
    throw mediaError(9412, `unsupported video: ${video.codec} in ${container}`);
  }
  if (audio && !/^(aac|mp3)/.test(audio.codec)) {
    throw mediaError(9412, `unsupported audio: ${audio.codec}`);
  }
  if (duration_seconds > MAX_INPUT_SECONDS) {
    throw mediaError(9402, "the video must be at most 10 minutes long");
  }
  return video;
}

function enginePath(
  size: Size,
  output: Output,
  picture: Picture,
  seconds: number,
  hash: number,
): string {
  const { width, height, fit } = size;
  const { mode, time, format } = output;
  if (mode === "frame") return path("frame", { time, width, height, fit, format });
  if (mode === "audio") return path("audio", { time, duration: seconds });
  if (mode === "video") {
    const { audio } = output;
    return path("clip", { time, duration: seconds, width: clipWidth(size, picture), audio });
  }
  const count = output.imageCount ?? DEFAULT_IMAGES;
  const columns = 1 + ((hash + Math.floor(time * 1000)) % Math.min(count, MAX_COLUMNS));
  return path("sheet", { time, duration: seconds, count, columns, width, height, fit, format });
}

/** The engine scales a clip by its width alone, so it can't crop. */
function clipWidth({ width, height, fit }: Size, picture: Picture): number | undefined {
  if (width === undefined && height === undefined) return undefined;
  if (fit === "cover" && width !== undefined && height !== undefined) {
    throw mediaError(9523, "cropping a clip (fit: cover) has no local stand-in");
  }
  const { width: across, height: down } = picture;
  const wanted = Math.min(width ?? Infinity, ((height ?? Infinity) * across) / down);
  return Math.round(fit === "scale-down" ? Math.min(wanted, across) : wanted);
}

function path(
  operation: string,
  values: Record<string, string | number | boolean | undefined>,
): string {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return `/media/${operation}?${new URLSearchParams(given).toString()}`;
}

/** FNV-1a, 32 bits: the same input has the same sheets. */
function fnv1a(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
