import { INGEST } from "../config.ts";
import { AppError, causeOf } from "../errors.ts";
import type { Clip } from "./clips.ts";

/** What MediaError says of bytes that it can't decode; anything else may pass. */
const UNDECODABLE = /decod|corrupt|invalid|unsupported|codec|no_video|out_of_range/i;

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
    if (UNDECODABLE.test(causeOf(cause))) {
      throw new AppError("unreadable_frame", "A frame of the video can't be decoded.", { cause });
    }
    throw new AppError("upstream_unavailable", "Frames can't be decoded just now.", { cause });
  }
}
