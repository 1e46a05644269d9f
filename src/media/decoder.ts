import { AppError } from "../errors.ts";
import type { Clip } from "./clips.ts";

/** What decodes the pictures of videos. */
export interface DecoderEnv {
  /** Of the platform: H.264 alone. */
  FRAMES: MediaBinding;
  /** A server for all else (docs/operate.md). Empty: there is none. */
  DECODER_URL: string;
  DECODER_KEY?: string;
}

/** What is wanted of a clip, as a JPEG: the picture at its moment or, on one sheet, several from there on. */
export interface Wanted {
  size: Pick<MediaTransformationInputOptions, "width" | "height" | "fit">;
  /** At equal distances in so many seconds, or in all that there are. */
  sheet?: { count: number; seconds?: number };
}

const TIMEOUT_MS = 120_000;

/**
 * Has a clip decoded by the server for what FRAMES doesn't decode. Throws `unsupported_codec` where there is
 * none, `unreadable_frame`, or `upstream_unavailable` where trying again may help.
 */
export async function decodeElsewhere(
  env: DecoderEnv,
  clip: Clip,
  { size, sheet }: Wanted,
): Promise<Uint8Array> {
  if (env.DECODER_URL === "") throw unsupportedCodec(clip.codec);
  const query = new URLSearchParams({ time: clip.atSeconds.toFixed(3), format: "jpg" });
  const given = { ...size, count: sheet?.count, duration: sheet?.seconds?.toFixed(3) };
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) query.set(name, String(value));
  }
  const path = `${sheet ? "sheet" : "frame"}?${query.toString()}`;
  let response: Response;
  try {
    response = await fetch(`${env.DECODER_URL}/media/${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/octet-stream",
        ...(env.DECODER_KEY && { authorization: `Bearer ${env.DECODER_KEY}` }),
      },
      body: clip.bytes,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.ok) return new Uint8Array(await response.arrayBuffer());
  } catch (cause) {
    throw new AppError("upstream_unavailable", "The decoder does not answer.", { cause });
  }
  await response.body?.cancel();
  const isInput = response.status === 415 || response.status === 422;
  throw isInput
    ? new AppError("unreadable_frame", "A frame can't be decoded.")
    : new AppError("upstream_unavailable", `The decoder answered ${response.status}.`);
}

export function unsupportedCodec(name: string): AppError {
  const message = `The video is coded as ${name}, which can't be decoded here. Convert it to H.264 in MP4.`;
  return new AppError("unsupported_codec", message);
}
