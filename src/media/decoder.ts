import { AppError } from "../errors.ts";
import { type Clip, unsupportedCodec } from "./container/clips.ts";

/** Bindings and settings that decode frames of videos. */
export interface DecoderEnv {
  /** Media Transformations. It decodes H.264 only. */
  FRAMES: MediaBinding;
  /** Server that decodes the other codecs (docs/operate.md). Empty without one. */
  DECODER_URL: string;
  DECODER_KEY?: string;
}

/** Output of a clip as a JPEG: the frame at its time, or a contact sheet that starts there. */
export interface TransformOptions {
  size: Pick<MediaTransformationInputOptions, "width" | "height" | "fit">;
  /** `count` frames at equal distances within `seconds`, or within the rest of the clip. */
  contactSheet?: { count: number; seconds?: number };
}

const TIMEOUT_MS = 120_000;

/**
 * Decodes a clip on the server at `DECODER_URL`. Throws `unsupported_codec` without a server,
 * `unreadable_frame` for a damaged clip, and `upstream_unavailable` when a retry may help.
 */
export async function decodeExternally(
  env: DecoderEnv,
  clip: Clip,
  { size, contactSheet }: TransformOptions,
): Promise<Uint8Array> {
  if (env.DECODER_URL === "") throw unsupportedCodec(clip.codec);
  const query = new URLSearchParams({ time: clip.atSeconds.toFixed(3), format: "jpg" });
  const options = {
    ...size,
    count: contactSheet?.count,
    duration: contactSheet?.seconds?.toFixed(3),
  };
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined) query.set(name, String(value));
  }
  const path = `${contactSheet ? "sheet" : "frame"}?${query.toString()}`;
  let response: Response;
  try {
    response = await fetch(`${env.DECODER_URL}/media/${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/octet-stream",
        ...(env.DECODER_KEY && { authorization: `Bearer ${env.DECODER_KEY}` }),
      },
      body: clip.file,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.ok) return new Uint8Array(await response.arrayBuffer());
  } catch (cause) {
    throw new AppError("upstream_unavailable", "The decoder does not answer.", { cause });
  }
  await response.body?.cancel();
  const isInputError = response.status === 415 || response.status === 422;
  throw isInputError
    ? new AppError("unreadable_frame", "A frame can't be decoded.")
    : new AppError("upstream_unavailable", `The decoder answered ${response.status}.`);
}
