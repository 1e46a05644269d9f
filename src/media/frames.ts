import { INGEST } from "../config.ts";
import { AppError } from "../errors.ts";
import { type Clip, cutClip } from "./clips.ts";
import { openContainer, requireVideoTrack } from "./container.ts";

/**
 * Media Transformations' codes for what is wrong with the input; 95xx are its own troubles, one of
 * which may also be the input's
 * (https://developers.cloudflare.com/stream/transform-videos/troubleshooting/).
 */
const INPUT_ERRORS = { from: 9400, to: 9500 };
const INTERNAL_ERROR = 9523;

/**
 * The frame shown at a clip's moment as a JPEG, at most `INGEST.keyframeWidth` wide. Throws
 * `unreadable_frame` where it can't be decoded, `upstream_failed` or `upstream_unavailable` where
 * trying again may help.
 */
export function frameOf(frames: MediaBinding, clip: Clip): Promise<Uint8Array> {
  const size = { width: INGEST.keyframeWidth, fit: "scale-down" } as const;
  return transformClip(frames, clip, size, { mode: "frame" });
}

/** The frame of a stored video that is shown at a moment. Throws as `cutClip` and `frameOf` do. */
export async function frameAt(
  env: Pick<Env, "FRAMES" | "MEDIA">,
  key: string,
  seconds: number,
): Promise<Uint8Array> {
  using input = await openContainer(env.MEDIA, key, { from: seconds, to: seconds });
  return frameOf(env.FRAMES, await cutClip(await requireVideoTrack(input), seconds));
}

/** As `frameOf`, what the FRAMES binding makes of a clip from its moment on. */
export async function transformClip(
  frames: MediaBinding,
  clip: Clip,
  size: MediaTransformationInputOptions,
  output: MediaTransformationOutputOptions,
): Promise<Uint8Array> {
  try {
    const response = await frames
      .input(new Blob([clip.bytes]).stream())
      .transform(size)
      .output({ ...output, time: `${clip.atSeconds.toFixed(3)}s`, format: "jpg" })
      .response();
    if (!response.ok) throw new Error(await response.text());
    return new Uint8Array(await response.arrayBuffer());
  } catch (cause) {
    const code: unknown = cause instanceof Error && Reflect.get(cause, "code");
    const isInput = Number(code) >= INPUT_ERRORS.from && Number(code) < INPUT_ERRORS.to;
    if (isInput) throw new AppError("unreadable_frame", "A frame can't be decoded.", { cause });
    const trouble = code === INTERNAL_ERROR ? "upstream_failed" : "upstream_unavailable";
    throw new AppError(trouble, "Frames can't be decoded just now.", { cause });
  }
}
