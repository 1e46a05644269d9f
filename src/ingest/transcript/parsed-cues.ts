import type { Cue } from "../../types.ts";

/** What a parser of one format found in a file. */
export interface ParsedCues {
  /** Cues in file order. A missing end is NaN. */
  cues: Cue[];
  /** Numbers of the lines, from 1, that could not be read as they are written. */
  badLines: number[];
  language?: string | null;
  /** Whether times are frames at `NOMINAL_FPS`, because the file doesn't name its frame rate. */
  isFrameBased?: boolean;
}
