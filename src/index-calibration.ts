/** A line that maps the log odds of scores: `src/search/log-odds-line.ts`. */
export interface IndexCalibration {
  slope: number;
  offset: number;
  /** Names the general parameters that it was fitted on. */
  tag: number;
}
