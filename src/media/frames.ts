import { INGEST } from "../config.ts";
import { AppError } from "../errors.ts";
import type { Clip } from "./clips.ts";

/** Media Transformations' codes for what is wrong with the input; 95xx are its own troubles. */
const INPUT_ERRORS = { from: 9400, to: 9500 };

/**
 * The frame shown at a clip's moment as a JPEG, at most `INGEST.keyframeWidth` wide. Throws
 * `unreadable_frame` where it can't be decoded, `upstream_unavailable` where trying again may help.
 */
export async function frameOf(frames: MediaBinding, clip: Clip): Promise<Uint8Array> {
  try {
    const response = await frames
      .input(new Blob([clip.bytes]).stream())
      .transform({ width: INGEST.keyframeWidth, fit: "scale-down" })
      .output({ mode: "frame", time: `${clip.atSeconds.toFixed(3)}s`, format: "jpg" })
      .response();
    if (!response.ok) throw new Error(await response.text());
    return new Uint8Array(await response.arrayBuffer());
  } catch (cause) {
    const code: unknown = cause instanceof Error && Reflect.get(cause, "code");
    const isInput = Number(code) >= INPUT_ERRORS.from && Number(code) < INPUT_ERRORS.to;
    if (isInput) throw new AppError("unreadable_frame", "A frame can't be decoded.", { cause });
    throw new AppError("upstream_unavailable", "Frames can't be decoded just now.", { cause });
  }
}
