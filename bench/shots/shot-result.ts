import type { Transition } from "../../src/types.ts";

/** Transitions of a video, and the work to find them. */
export interface ShotResult {
  transitions: Transition[];
  /** FRAMES operations. */
  operationCount: number;
  /** Frames that FRAMES was given to decode. */
  frameCount: number;
}
