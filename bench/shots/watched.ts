import type { Transition } from "../../src/types.ts";

/** What was found in a video, and what it took. */
export interface Watched {
  transitions: Transition[];
  /** Of FRAMES. */
  operations: number;
  /** Handed to FRAMES to be decoded. */
  pictures: number;
}
