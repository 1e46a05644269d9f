/**
 * Normalised discounted cumulative gain of the first `depth` results with binary relevance.
 * `ranking` says which results are relevant; `relevantCount` (1 or more) is the number of relevant
 * items in all. 1 if those come first. Järvelin and Kekäläinen, "Cumulated gain-based evaluation of
 * IR techniques", TOIS 2002.
 */
export function ndcg(ranking: readonly boolean[], relevantCount = 1, depth = 10): number {
  let gain = 0;
  let idealGain = 0;
  for (let rank = 0; rank < depth; rank++) {
    if (ranking[rank]) gain += 1 / Math.log2(rank + 2);
    if (rank < relevantCount) idealGain += 1 / Math.log2(rank + 2);
  }
  return gain / idealGain;
}
