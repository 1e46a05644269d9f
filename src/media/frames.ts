import type { InputVideoTrack } from "mediabunny";
import { INGEST } from "../config.ts";
import { MAX_CLIP_BYTES, withClipMemory } from "./clip-memory.ts";
import { type Clip, cutFrameClip } from "./container/clips.ts";
import { openContainer, requireVideoTrack } from "./container/open-container.ts";
import { toFrameError } from "./decoder-errors.ts";
import { decodeExternally, type DecoderEnv, type TransformOptions } from "./decoder.ts";

/**
 * Decodes the frame of a track that is on screen at `seconds` into a JPEG, at most
 * `INGEST.keyframeWidth` wide. Throws what `cutFrameClip` throws, `unreadable_frame` for a damaged
 * frame, `unsupported_codec` without a decoder for its codec, and `upstream_failed` or
 * `upstream_unavailable` when a retry may help.
 */
export function decodeFrame(
  env: DecoderEnv,
  track: InputVideoTrack,
  seconds: number,
): Promise<Uint8Array> {
  const size = { width: INGEST.keyframeWidth, fit: "scale-down" } as const;
  return withClipMemory(track, { start: seconds, end: seconds }, async () => {
    return transformClip(env, await cutFrameClip(track, seconds, MAX_CLIP_BYTES), { size });
  });
}

/**
 * Extracts the frame of a stored video that is on screen at `seconds`, as a JPEG. Throws what
 * `decodeFrame` throws, and `source_missing`.
 */
export async function extractFrameAt(
  env: DecoderEnv & Pick<Env, "MEDIA">,
  key: string,
  seconds: number,
): Promise<Uint8Array> {
  using input = await openContainer(env.MEDIA, key, { start: seconds, end: seconds });
  return await decodeFrame(env, await requireVideoTrack(input), seconds);
}

/**
 * Decodes a clip into a JPEG, by FRAMES or by the external decoder. Throws what `decodeFrame`
 * throws.
 */
export async function transformClip(
  env: DecoderEnv,
  clip: Clip,
  options: TransformOptions,
): Promise<Uint8Array> {
  if (clip.codec !== "avc") return decodeExternally(env, clip, options);
  const { size, contactSheet } = options;
  const output = contactSheet
    ? ({ mode: "spritesheet", imageCount: contactSheet.count } as const)
    : ({ mode: "frame" } as const);
  const duration = contactSheet?.seconds && { duration: `${contactSheet.seconds.toFixed(3)}s` };
  try {
    const response = await env.FRAMES.input(clip.file.stream())
      .transform(size)
      .output({ ...output, ...duration, time: `${clip.atSeconds.toFixed(3)}s`, format: "jpg" })
      .response();
    if (!response.ok) throw new Error(await response.text());
    return new Uint8Array(await response.arrayBuffer());
  } catch (cause) {
    throw toFrameError(cause);
  }
}
