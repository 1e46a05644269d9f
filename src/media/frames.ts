import { INGEST } from "../config.ts";
import { AppError } from "../errors.ts";
import { type Clip, cutClip } from "./clips.ts";
import { openContainer, requireVideoTrack } from "./container.ts";
import { decodeElsewhere, type DecoderEnv, type Wanted } from "./decoder.ts";

/**
 * Media Transformations' codes for what is wrong with the input; 95xx are its own troubles, one of
 * which may also be the input's
 * (https://developers.cloudflare.com/stream/transform-videos/troubleshooting/).
 */
const INPUT_ERRORS = { from: 9400, to: 9500 };
const INTERNAL_ERROR = 9523;

/**
 * The frame shown at a clip's moment as a JPEG, at most `INGEST.keyframeWidth` wide. Throws
 * `unreadable_frame` where it can't be decoded, `unsupported_codec` where nobody can, `upstream_failed` or
 * `upstream_unavailable` where trying again may help.
 */
export function frameOf(env: DecoderEnv, clip: Clip): Promise<Uint8Array> {
  const size = { width: INGEST.keyframeWidth, fit: "scale-down" } as const;
  return transformClip(env, clip, { size });
}

/** The frame of a stored video that is shown at a moment. Throws as `cutClip` and `frameOf` do. */
export async function frameAt(
  env: DecoderEnv & Pick<Env, "MEDIA">,
  key: string,
  seconds: number,
): Promise<Uint8Array> {
  using input = await openContainer(env.MEDIA, key, { from: seconds, to: seconds });
  return frameOf(env, await cutClip(await requireVideoTrack(input), seconds));
}

/** What is wanted of a clip. Throws as `frameOf` does. */
export async function transformClip(
  env: DecoderEnv,
  clip: Clip,
  wanted: Wanted,
): Promise<Uint8Array> {
  if (clip.codec !== "avc") return decodeElsewhere(env, clip, wanted);
  const { size, sheet } = wanted;
  const output = sheet
    ? ({ mode: "spritesheet", imageCount: sheet.count } as const)
    : ({ mode: "frame" } as const);
  const duration = sheet?.seconds && { duration: `${sheet.seconds.toFixed(3)}s` };
  try {
    const response = await env.FRAMES.input(new Blob([clip.bytes]).stream())
      .transform(size)
      .output({ ...output, ...duration, time: `${clip.atSeconds.toFixed(3)}s`, format: "jpg" })
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
