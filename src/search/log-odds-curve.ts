/**
 * A monotonic map of log odds: points in order, with straight lines between them, and lines of
 * slope 1 before the first and behind the last. Without points it changes nothing. It corrects
 * probabilities that are too high in one range and too low in another, as isotonic regression does
 * (Zadrozny and Elkan, "Transforming Classifier Scores into Accurate Multiclass Probability
 * Estimates", 2002).
 */
export type LogOddsCurve = readonly { from: number; to: number }[];

export function applyCurve(curve: LogOddsCurve, logOdds: number): number {
  const after = curve.findIndex(({ from }) => logOdds < from);
  const next = curve[after];
  const last = after === -1 ? curve.at(-1) : curve[after - 1];
  if (!last || !next) {
    const end = last ?? next;
    return end ? logOdds + end.to - end.from : logOdds;
  }
  const share = (logOdds - last.from) / (next.from - last.from);
  return last.to + share * (next.to - last.to);
}
