import * as z from "zod";
import { countOf } from "../counts.ts";
import { containerCount } from "../decoder-container.ts";
import { AppError } from "../errors.ts";
import { treatAsInvalid } from "../ignored-errors.ts";
import { repeatCall } from "../object-calls.ts";
import { type Clip, unsupportedCodec } from "./container/clips.ts";
import { tooLarge, unreadableFrame, unreadableImage } from "./decoder-errors.ts";
import type { Size } from "./pixels/rect.ts";

export interface DecoderEnv extends ExternalDecoder {
  /** Media Transformations. It decodes H.264, and `FRAMES_CODECS`. */
  FRAMES: MediaBinding;
  /** Other codecs that FRAMES was seen to decode, with commas (docs/operate.md#other-codecs). */
  FRAMES_CODECS: string;
}

/** Output of a clip as a JPEG: the frame at its time, or a contact sheet that starts there. */
export type TransformOptions =
  | { size: FrameSize; contactSheet?: undefined }
  | { contactSheet: ContactSheetOptions };

export type FrameSize = Pick<MediaTransformationInputOptions, "width" | "height" | "fit">;

/** `count` frames at equal distances within `seconds`, or within the rest of the clip. */
export interface ContactSheetOptions {
  count: number;
  seconds?: number;
  /** Size of a tile, with the aspect ratio of the frames. */
  tile: Size;
}

const TIMEOUT_MS = 120_000;

/**
 * Decodes a clip by the external decoder. Throws `unsupported_codec` without one,
 * `unreadable_frame` for a damaged clip, and `upstream_unavailable` when a retry may help.
 */
export async function decodeExternally(
  env: ExternalDecoder,
  clip: Clip,
  options: TransformOptions,
): Promise<Uint8Array> {
  if (!hasDecoder(env)) throw unsupportedCodec(clip.codec);
  const query = new URLSearchParams({ time: clip.atSeconds.toFixed(3), format: "jpg" });
  for (const [name, value] of Object.entries(toParameters(options))) {
    if (value !== undefined) query.set(name, String(value));
  }
  const path = `${options.contactSheet ? "sheet" : "frame"}?${query.toString()}`;
  const response = await post(env, path, clip.file, unreadableFrame);
  return new Uint8Array(await response.arrayBuffer());
}

/**
 * Decodes an image by the external decoder into an upright JPEG of at most `side` pixels each way,
 * and returns it with the upright size of the original. Throws `unsupported_codec` without a
 * decoder, which names the format, and for a kind that the decoder doesn't read, which it names;
 * `unreadable_image` or `too_large` for what can't be decoded, and `upstream_unavailable` when a
 * retry may help.
 */
export async function decodeImageExternally(
  env: ExternalDecoder,
  format: string,
  body: ReadableStream<Uint8Array>,
  side: number,
): Promise<Size & { jpeg: Uint8Array }> {
  if (!hasDecoder(env)) {
    await body.cancel();
    const message =
      `This deployment has no decoder for ${format} images. Save it as JPEG, PNG or WebP, or ask ` +
      "the operator to add a decoder (docs/operate.md#other-codecs), then retry.";
    throw new AppError("unsupported_codec", message);
  }
  const response = await post(env, `image?side=${side}`, body, (status, reason) => {
    if (status === 413) return tooLarge("the decoder's limit");
    if (status === 415 && reason) return new AppError("unsupported_codec", reason);
    return unreadableImage(`decoder: ${status}`);
  });
  const jpeg = new Uint8Array(await response.arrayBuffer());
  const [width, height] = ["width", "height"].map((side) =>
    Number(response.headers.get(`x-image-${side}`)),
  );
  if (width! > 0 && height! > 0) return { jpeg, width: width!, height: height! };
  throw new AppError("upstream_unavailable", "The decoder doesn't say the size of an image.");
}

/** Cells of equal length in a clip. Times are seconds; the first cell may begin before the clip. */
export interface PeakCells {
  start: number;
  step: number;
  count: number;
}

/**
 * Measures the largest absolute amplitude in each cell of an audio clip by the external decoder,
 * which must exist: a byte each, 255 at full scale. Throws
 * `unsupported_audio_codec` for what it can't decode, and `upstream_unavailable` when a retry may
 * help.
 */
export async function measurePeaksExternally(
  env: ExternalDecoder,
  clip: Blob,
  { start, step, count }: PeakCells,
): Promise<Uint8Array> {
  const path = `peaks?start=${start.toFixed(6)}&step=${step.toFixed(9)}&count=${count}`;
  const toInputError = () => new AppError("unsupported_audio_codec", "The audio can't be decoded.");
  const response = await post(env, path, clip, toInputError);
  const peaks = new Uint8Array(await response.arrayBuffer());
  if (peaks.length === count) return peaks;
  throw new AppError("upstream_unavailable", "The decoder doesn't return the amplitudes.");
}

const INPUT_ERRORS = new Set([413, 415, 422]);
const ERROR_BODY = z.object({ error: z.object({ message: z.string().max(300) }) });

/**
 * Sends a request to the decoder. `toInputError` makes an error of a status that blames the input;
 * it gets the decoder's own sentence, if there is one.
 */
async function post(
  env: ExternalDecoder,
  path: string,
  body: Blob | ReadableStream<Uint8Array>,
  toInputError: (status: number, reason: string | undefined) => AppError,
): Promise<Response> {
  const request = { method: "POST", body, fileId: null, timeoutMs: TIMEOUT_MS };
  const response = await requestDecoder(env, `media/${path}`, request);
  if (response.ok) return response;
  const { status } = response;
  const { data } = ERROR_BODY.safeParse(await response.json().catch(treatAsInvalid));
  if (INPUT_ERRORS.has(status)) throw toInputError(status, data?.error.message);
  throw new AppError("upstream_unavailable", `The decoder answered ${status}.`);
}

function toParameters(options: TransformOptions) {
  if (!options.contactSheet) return options.size;
  const { count, seconds, tile } = options.contactSheet;
  return { ...tile, fit: "contain", count, duration: seconds?.toFixed(3) };
}

/** Where the decoder runs: docs/operate.md#other-codecs. */
export interface ExternalDecoder {
  /** Containers of the deployment (src/durable/decoder.ts). They come before `DECODER_URL`. */
  DECODER?: DecoderContainers;
  DECODER_INSTANCES?: string;
  /** A server with the same interface. Empty without one. */
  DECODER_URL: string;
  DECODER_KEY?: string;
  /** For whom it works, which `meterEnv` sets: accounts take turns. */
  DECODER_ACCOUNT?: string;
}

/** The part of a Durable Object namespace that reaches a container by its name. */
export interface DecoderContainers {
  getByName(name: string): Pick<Fetcher, "fetch">;
}

interface DecoderRequest {
  method: string;
  body?: Blob | ReadableStream<Uint8Array>;
  /** Id of a file that the decoder stores: 64 hexadecimal digits. Null if it stores nothing. */
  fileId: string | null;
  timeoutMs: number;
}

export function hasDecoder({ DECODER, DECODER_URL }: ExternalDecoder): boolean {
  return DECODER !== undefined || DECODER_URL !== "";
}

/**
 * Sends a request to the decoder, which must exist, and returns its response, whatever the status.
 * All requests with one `fileId` meet one container, and are repeated if it is reset, but for those
 * with a stream. Throws `upstream_unavailable` if the decoder is away, starting or full, or if what
 * stands before it answers in its stead; `too_complex` if it fails at this request, by its own
 * account or because it is back at once after it broke off.
 */
export async function requestDecoder(
  env: ExternalDecoder,
  path: string,
  { method, body, fileId, timeoutMs }: DecoderRequest,
): Promise<Response> {
  const init: RequestInit = {
    method,
    headers: {
      ...(body && { "content-type": "application/octet-stream" }),
      ...(env.DECODER_KEY && { authorization: `Bearer ${env.DECODER_KEY}` }),
      ...(env.DECODER_ACCOUNT && { "x-account": env.DECODER_ACCOUNT }),
    },
    signal: AbortSignal.timeout(timeoutMs),
    ...(body && { body }),
  };
  const { DECODER: containers } = env;
  const send = (path: string, init: RequestInit) => {
    if (!containers) return fetch(`${env.DECODER_URL}/${path}`, init);
    const call = async () => {
      const count = countOf(containers);
      count("objectRequests", 1);
      count("subrequests", 1);
      return containers.getByName(containerName(env, fileId)).fetch(`http://decoder/${path}`, init);
    };
    return init.body instanceof ReadableStream ? call() : repeatCall("The decoder", call);
  };
  let response: Response;
  try {
    response = await send(path, init);
  } catch (cause) {
    if (!init.signal!.aborted && (await isThere(send))) throw tooComplex(cause);
    throw new AppError("upstream_unavailable", "The decoder does not answer.", { cause });
  }
  const { status } = response;
  if (!FAILURES.has(status) && !isOfGateway(response)) return response;
  await response.body?.cancel();
  const isAtFault = !isOfGateway(response) || (BROKEN_OFF.has(status) && (await isThere(send)));
  if (isAtFault) throw tooComplex(`decoder: ${status}`);
  throw new AppError("upstream_unavailable", `The decoder can't be reached (${status}).`);
}

/** Statuses of the decoder that blame the file, though it may be read the next time. */
const FAILURES = new Set([500, 504]);
/** Statuses with which a proxy, or the object of a container, says that a request broke off. */
const BROKEN_OFF = new Set([500, 502]);
const HEALTH_MS = 5_000;

/** Whether the decoder answers by itself now, whatever it answers. */
async function isThere(send: (path: string, init: RequestInit) => Promise<Response>) {
  try {
    const response = await send("health", { signal: AbortSignal.timeout(HEALTH_MS) });
    await response.body?.cancel();
    return !isOfGateway(response);
  } catch {
    return false;
  }
}

function tooComplex(cause: unknown): AppError {
  const message =
    "The decoder fails at this file: it takes too much memory or time, or is damaged. " +
    "Save it again, smaller or in another format.";
  return new AppError("too_complex", message, { cause });
}

/**
 * Returns the name of the container for a file. What stores nothing may go to any of them, so that
 * the clips of a video are decoded by all.
 */
function containerName(env: ExternalDecoder, fileId: string | null): string {
  const hash = fileId === null ? Math.random() * 2 ** 32 : Number.parseInt(fileId.slice(0, 8), 16);
  return `decoder-${Math.floor(hash) % containerCount(env.DECODER_INSTANCES)}`;
}

/**
 * Whether a failure was answered by a proxy, or by the object of a container that is starting or
 * full. The decoder's own errors are JSON.
 */
function isOfGateway({ status, headers }: Response): boolean {
  const isFailure = status >= 500 || status === 429;
  return isFailure && !headers.get("content-type")?.startsWith("application/json");
}
