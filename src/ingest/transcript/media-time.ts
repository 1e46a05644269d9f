/** Frame rates by the highest frame number that a time like 00:00:03:12 may have. */
const FRAME_RATES = [25, 30] as const;
const MAX_TIME_CHARACTERS = 32;
const DIGITS = /^\d{1,9}$/;

/**
 * Parses a time as subtitle tools and their users write it: hours may lack, the fraction may follow
 * a comma, a point, a colon or nothing, and blanks may be anywhere. Two digits after a third colon
 * are frames. NaN if it isn't a time.
 */
export function parseMediaTime(text: string | undefined): number {
  if (text === undefined || text.length > MAX_TIME_CHARACTERS) return NaN;
  const compact = text
    .replaceAll(/\s/g, "")
    .replaceAll("：", ":")
    .replaceAll(/[，．]/g, ".");
  const sign = compact.startsWith("-") ? -1 : 1;
  const [whole, fraction, ...rest] = compact.replace(/^-/, "").split(/[.,;]/);
  if (rest.length > 0) return NaN;
  const parts = whole!.split(":");
  let tail = fraction === undefined ? "" : fraction;
  let tailSeconds = 0;
  const isMilliseconds = fraction === undefined && parts.length > 2 && parts.at(-1)!.length === 3;
  if (fraction === undefined && (parts.length === 4 || isMilliseconds)) {
    const last = parts.pop()!;
    if (last.length === 2) tailSeconds = toFrameSeconds(Number(last));
    else tail = last;
  }
  if (tail !== "" && !DIGITS.test(tail)) return NaN;
  if (parts.length < 2 || parts.length > 3) return NaN;
  if (!parts.every((part) => /^\d{1,3}$/.test(part))) return NaN;
  const [seconds = 0, minutes = 0, hours = 0] = parts.toReversed().map(Number);
  if (tail !== "") tailSeconds = Number(`0.${tail}`);
  const milliseconds = Math.round((hours * 3600 + minutes * 60 + seconds + tailSeconds) * 1000);
  return (sign * milliseconds) / 1000 || 0;
}

function toFrameSeconds(frames: number): number {
  const rate = FRAME_RATES.find((candidate) => frames < candidate);
  return rate === undefined ? frames / 100 : frames / rate;
}
