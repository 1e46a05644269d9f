/** Uniform random numbers from 0 to below 1, the same for the same seed (mulberry32). */
export type Random = () => number;

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Draws from the standard normal distribution (Box and Muller, 1958). */
export function drawNormal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** Expected successes and failures from which a binomial distribution is drawn as a normal one. */
const MIN_NORMAL = 30;

/** Draws how many of `count` independent events happen that each have a probability. */
export function drawBinomial(count: number, probability: number, random: Random): number {
  if (count <= 0 || probability <= 0) return 0;
  if (count === 1) return Number(random() < probability);
  if (probability > 0.5) return count - drawBinomial(count, 1 - probability, random);
  const mean = count * probability;
  if (mean > MIN_NORMAL) {
    const deviation = Math.sqrt(mean * (1 - probability));
    const drawn = Math.round(mean + deviation * drawNormal(random));
    return Math.min(count, Math.max(0, drawn));
  }
  // Gaps between successes are geometric (Devroye, "Non-uniform random variate generation", 1986).
  const failureLog = Math.log1p(-probability);
  let successes = -1;
  for (let at = 0; at <= count; successes++) {
    at += 1 + Math.floor(Math.log(1 - random()) / failureLog);
  }
  return successes;
}
