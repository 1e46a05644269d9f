import type { FillDay } from "../store/fill.ts";

const DAY_MS = 24 * 3600 * 1000;
/** Dates further away than this say nothing. */
const MAX_DAYS = 36_500;

/**
 * Returns the day (YYYY-MM-DD, UTC) on which a resource reaches `limit` if it goes on growing as it
 * has over `days`, oldest first: a line is fitted by least squares and starts at the last day. Null
 * if there are fewer than two days, if it doesn't grow, or if that takes over a century.
 */
export function forecastDate(days: readonly FillDay[], limit: number): string | null {
  const last = days.at(-1);
  if (!last || days.length < 2) return null;
  if (last.used >= limit) return last.date;
  const points = days.map(({ date, used }) => ({ x: Date.parse(date) / DAY_MS, y: used }));
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(points.map(({ x }) => x)), mean(points.map(({ y }) => y))];
  const covariance = mean(points.map(({ x, y }) => (x - meanX) * (y - meanY)));
  const perDay = covariance / mean(points.map(({ x }) => (x - meanX) ** 2));
  const remainingDays = (limit - last.used) / perDay;
  if (!(perDay > 0) || remainingDays > MAX_DAYS) return null;
  const reached = Date.parse(last.date) + Math.ceil(remainingDays) * DAY_MS;
  return new Date(reached).toISOString().slice(0, 10);
}
