import type { EvidenceKind } from "./evidence-kind.ts";

/** A line that maps the log odds of scores: `src/search/log-odds-line.ts`. */
export interface IndexCalibration {
  slope: number;
  offset: number;
  /** Names the general parameters that it was fitted on. */
  tag: number;
}

/** What statistics need of a judgment. */
export interface ScoredJudgment {
  /** Fingerprint, equal for queries that search for the same. */
  queryKey: string;
  isRelevant: boolean;
  /** Log odds of the score before the index's own calibration; null if it wasn't found. */
  logOdds: number | null;
  /** Kind of the strongest evidence; null without any. */
  evidenceKind: EvidenceKind | null;
  /** Names the parameters of the score: `calibrationTag`. */
  calibrationTag: number;
}
