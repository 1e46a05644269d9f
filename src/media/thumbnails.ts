import { FOOTAGE, SIGNATURE } from "../config.ts";
import { meansOf, openGrey } from "./grey-picture.ts";
import { WHOLE } from "./overlap.ts";
import type { Still } from "./sheets.ts";

/** What is kept of a still: grey levels, `FOOTAGE.thumbnailSide` each way, rows from the top. */
export interface TimedThumbnail {
  seconds: number;
  thumbnail: Uint8Array;
}

/** Stills made small, bars and all. */
export function thumbnailsOf(stills: readonly Still[]): TimedThumbnail[] {
  return small(stills, [0, 0, SIGNATURE.side, SIGNATURE.side]);
}

/**
 * Stills of one stretch made small, without the bars that are black in all of them, so that a dark picture
 * doesn't lose its edges; null where there are none.
 */
export function unbarredThumbnailsOf(stills: readonly Still[]): TimedThumbnail[] | null {
  const [first] = stills;
  if (!first) return null;
  const brightest = first.grey.slice();
  for (const { grey } of stills) {
    for (let i = 0; i < grey.length; i++) brightest[i] = Math.max(brightest[i]!, grey[i]!);
  }
  const { left, top, width, height } = openGrey(brightest);
  const isWhole = width === SIGNATURE.side && height === SIGNATURE.side;
  return isWhole ? null : small(stills, [left, top, width, height]);
}

/** `[left, top, width, height]` in pixels. */
function small(
  stills: readonly Still[],
  [left, top, width, height]: readonly [number, number, number, number],
): TimedThumbnail[] {
  return stills.map(({ seconds, grey }) => {
    const picture = { ...openGrey(grey), left, top, width, height };
    const means = meansOf(picture, WHOLE, FOOTAGE.thumbnailSide);
    return { seconds, thumbnail: Uint8Array.from(means, Math.round) };
  });
}
