import type { Hit } from "sightline";
import type { MediaFile } from "../media-files.ts";
import type { Example } from "./fit.ts";

/** Captions that people wrote of a photo, for the segment that shows, speaks or displays it. */
export interface GroundTruth {
  file: string;
  /** Seconds into the file; null for an image. */
  at: number | null;
  captions: string[];
}

/** Media of every kind with captions by people. */
export interface Corpus {
  files: MediaFile[];
  truths: GroundTruth[];
  /** Captions of photos that aren't in the corpus. */
  absentCaptions: string[];
}

/** A hit of a query, and whether it is relevant. */
interface JudgedHit {
  signals: Hit["signals"];
  score: number;
  isRight: boolean;
}

/** Judged hits of a query, the best first. */
export interface JudgedQuery {
  hits: JudgedHit[];
  /** Number of relevant items in all. */
  relevantCount: number;
}

/** Weighs hits so that a query with a hundred relevant hits doesn't outweigh a hundred with one. */
export function weighExamples({ hits }: JudgedQuery): Example[] {
  const relevantCount = hits.filter(({ isRight }) => isRight).length;
  const weight = 1 / Math.sqrt(Math.max(1, relevantCount));
  return hits.map(({ signals, isRight }) => ({ signals, isRight, weight }));
}
