/** A stretch of a video, in ms. */
export interface Cut {
  startMs: number;
  endMs: number;
}

/** In ms. */
export function lengthOf({ startMs, endMs }: Cut): number {
  return endMs - startMs;
}
