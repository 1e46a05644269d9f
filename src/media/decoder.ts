import { AppError } from "../errors.ts";
import { type Clip, unsupportedCodec } from "./container/clips.ts";
import { tooLarge, unreadableImage } from "./decoder-errors.ts";
import { type ExternalDecoder, hasDecoder, requestDecoder } from "./decoder-request.ts";
import type { Size } from "./pixels/rect.ts";

/** Bindings and settings that decode frames of videos. */
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
  const response = await post(env, path, clip.file, (status) =>
    INPUT_ERRORS.has(status) ? new AppError("unreadable_frame", "A frame can't be decoded.") : null,
  );
  return new Uint8Array(await response.arrayBuffer());
}

/**
 * Decodes an image by the external decoder into an upright JPEG of at most `side` pixels each way,
 * and returns it with the upright size of the original. Throws `unsupported_codec` without a
 * decoder, which names the format, `unreadable_image` or `too_large` for what can't be
 * decoded, and `upstream_unavailable` when a retry may help.
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
  const response = await post(env, `image?side=${side}`, body, (status) => {
    if (status === 413) return tooLarge("the decoder's limit");
    return INPUT_ERRORS.has(status) ? unreadableImage(`decoder: ${status}`) : null;
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
  const response = await post(env, path, clip, (status) =>
    INPUT_ERRORS.has(status)
      ? new AppError("unsupported_audio_codec", "The audio can't be decoded.")
      : null,
  );
  const peaks = new Uint8Array(await response.arrayBuffer());
  if (peaks.length === count) return peaks;
  throw new AppError("upstream_unavailable", "The decoder doesn't return the amplitudes.");
}

const INPUT_ERRORS = new Set([415, 422]);

/** Sends a request to the decoder. `toInputError` says which statuses blame the input. */
async function post(
  env: ExternalDecoder,
  path: string,
  body: Blob | ReadableStream<Uint8Array>,
  toInputError: (status: number) => AppError | null,
): Promise<Response> {
  const request = { method: "POST", body, fileId: null, timeoutMs: TIMEOUT_MS };
  const response = await requestDecoder(env, `media/${path}`, request);
  if (response.ok) return response;
  await response.body?.cancel();
  throw (
    toInputError(response.status) ??
    new AppError("upstream_unavailable", `The decoder answered ${response.status}.`)
  );
}

function toParameters(options: TransformOptions) {
  if (!options.contactSheet) return options.size;
  const { count, seconds, tile } = options.contactSheet;
  return { ...tile, fit: "contain", count, duration: seconds?.toFixed(3) };
}
