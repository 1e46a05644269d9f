/** Returns the probability that all of several independent events happen. */
export function conjunction(probabilities: readonly number[]): number {
  return probabilities.reduce((product, probability) => product * probability, 1);
}

/**
 * Returns the probability that none of the segments of a scope has a thing, by the probability that
 * each has it. `background` is the probability for a segment in which nothing speaks for it. The
 * segments of a scene are alike, so that it counts once for all of them; what speaks for the thing
 * beyond it counts in each (noisy-or with a leak: Henrion, "Some practical issues in constructing
 * belief networks", 1989). For one segment it is 1 − presence.
 */
export function absenceProbability(presences: readonly number[], background: number): number {
  const leak = Math.min(background, Math.max(0, ...presences));
  if (leak >= 1) return 0;
  return presences.reduce(
    (absence, presence) => absence * Math.min(1, (1 - presence) / (1 - leak)),
    1 - leak,
  );
}

/** Multiplies the odds of a probability: Bayes' rule, with a likelihood ratio. */
export function scaleOdds(probability: number, ratio: number): number {
  const scaled = probability * ratio;
  return scaled === 0 ? 0 : scaled / (scaled + 1 - probability);
}

/** Mean of the probabilities with one observation of even odds: near .5 while there are few. */
export function expectedProbability(probabilities: readonly number[]): number {
  const sum = probabilities.reduce((total, probability) => total + probability, 0);
  return (sum + 0.5) / (probabilities.length + 1);
}
