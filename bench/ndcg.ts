/**
 * Normalised discounted cumulative gain of the first `depth` of a ranking that says which of its items
 * are right, where `wanted` (one at least) are right in all: 1 where they all come first. Järvelin and
 * Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 2002.
 */
export function ndcg(ranking: readonly boolean[], wanted = 1, depth = 10): number {
  let gain = 0;
  let most = 0;
  for (let at = 0; at < depth; at++) {
    if (ranking[at]) gain += 1 / Math.log2(at + 2);
    if (at < wanted) most += 1 / Math.log2(at + 2);
  }
  return gain / most;
}
