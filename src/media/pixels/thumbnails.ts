import { COPY_DETECTION, SIGNATURE } from "../../parameters.ts";
import type { SampledFrame } from "../shots/contact-sheet.ts";
import { cellMeans, toIntegralImage } from "./integral-image.ts";
import { WHOLE } from "./registration.ts";

/** The luma of a frame, `COPY_DETECTION.thumbnailSide` each way, rows from the top. */
export interface TimedThumbnail {
  seconds: number;
  lumaThumbnail: Uint8Array;
}

/** Scales frames down, black bars included. */
export function toThumbnails(frames: readonly SampledFrame[]): TimedThumbnail[] {
  return scaleDown(frames, [0, 0, SIGNATURE.side, SIGNATURE.side]);
}

/**
 * Scales frames down without their black bars, null for frames without bars. A bar must be black in
 * all of the frames, so that a dark frame doesn't lose its edges.
 */
export function cropLetterbox(frames: readonly SampledFrame[]): TimedThumbnail[] | null {
  const [first] = frames;
  if (!first) return null;
  const brightest = first.luma.slice();
  for (const { luma } of frames) {
    for (let i = 0; i < luma.length; i++) brightest[i] = Math.max(brightest[i]!, luma[i]!);
  }
  const { left, top, width, height } = toIntegralImage(brightest);
  const isWhole = width === SIGNATURE.side && height === SIGNATURE.side;
  return isWhole ? null : scaleDown(frames, [left, top, width, height]);
}

function scaleDown(
  frames: readonly SampledFrame[],
  [left, top, width, height]: readonly [number, number, number, number],
): TimedThumbnail[] {
  return frames.map(({ seconds, luma }) => {
    const image = { ...toIntegralImage(luma), left, top, width, height };
    const means = cellMeans(image, WHOLE, COPY_DETECTION.thumbnailSide);
    return { seconds, lumaThumbnail: Uint8Array.from(means, Math.round) };
  });
}
