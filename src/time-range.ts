/** A time range of a video in seconds, the shape of a cue. `end` isn't part of it. */
export interface TimeRange {
  start: number;
  end: number;
}

/** A time range of a video in milliseconds, the shape that is stored. `endMs` isn't part of it. */
export interface TimeRangeMs {
  startMs: number;
  endMs: number;
}

/** Returns the length of a time range in milliseconds. */
export function lengthMs({ startMs, endMs }: TimeRangeMs): number {
  return endMs - startMs;
}
