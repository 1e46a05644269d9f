export interface Interval {
  low: number;
  high: number;
}

/** Standard normal quantile of a two-sided interval of 90 %. */
const Z_90 = 1.6449;

/**
 * Returns the score interval of a share (Wilson, "Probable inference, the law of succession, and
 * statistical inference", JASA 1927), by default of 90 %. `total` is 1 or more.
 */
export function wilsonInterval(count: number, total: number, z = Z_90): Interval {
  const share = count / total;
  const scale = 1 + z ** 2 / total;
  const middle = (share + z ** 2 / (2 * total)) / scale;
  const half = (z / scale) * Math.sqrt((share * (1 - share)) / total + z ** 2 / (4 * total ** 2));
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}
