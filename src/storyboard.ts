import type { JsonObject } from "./types.ts";

/**
 * Layout of the storyboard of a video: one JPEG with frames at regular times, in rows from the top,
 * each from the left. Tile `i` is the sampled frame nearest to `i * interval_seconds`, mostly less
 * than half a second away. Sides are in pixels.
 */
export interface Storyboard {
  tiles: number;
  columns: number;
  tile_width: number;
  tile_height: number;
  interval_seconds: number;
}

/** Name of the technical fact that holds the layout. */
export const STORYBOARD = "storyboard";

/** Returns the layout of the storyboard of a video; null without one. */
export function storyboardOf({ technical }: { technical: JsonObject }): Storyboard | null {
  return (technical[STORYBOARD] as Storyboard | undefined) ?? null;
}
