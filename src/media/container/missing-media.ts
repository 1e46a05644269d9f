import type { Presentation, Span } from "./timeline.ts";

/** What a file promises and hasn't. */
export interface MissingMedia {
  /** 0 if it isn't known. */
  bytes: number;
  seconds: number;
  /** Presentation time of the first of it. */
  fromSeconds: number;
}

/** Differences below both are rounding, or frames that encoders drop. */
const TOLERANCE = { seconds: 0.5, share: 0.02 };

/**
 * Compares what is presented with what the container promises. `bytes` are missing; `isTimed` says
 * whether the container has times for them. Null if all is there that would be presented.
 */
export function compareWithPromised(
  actual: Presentation,
  promised: Presentation,
  { bytes, isTimed }: { bytes: number; isTimed: boolean },
): MissingMedia | null {
  const losses = [
    { actual: actual.video, promised: promised.video },
    { actual: actual.audio, promised: promised.audio },
  ].map((track) => ({
    from: endOf(track.actual),
    lost: endOf(track.promised) - endOf(track.actual),
  }));
  const lost = losses.filter((loss) => loss.lost > 0);
  const seconds = Math.max(0, ...lost.map((loss) => loss.lost));
  const tolerance = Math.max(TOLERANCE.seconds, TOLERANCE.share * promised.durationSeconds);
  const isWhole = bytes > 0 ? isTimed && seconds === 0 : seconds <= tolerance;
  if (isWhole) return null;
  const fromSeconds = Math.min(actual.durationSeconds, ...lost.map(({ from }) => from));
  return { bytes, seconds, fromSeconds };
}

/** Says what is missing. */
export function describeMissing({ bytes, seconds, fromSeconds }: MissingMedia): string {
  const time = seconds > 0 ? `${seconds.toFixed(1)} s` : null;
  const size = bytes > 0 ? `${bytes} bytes` : null;
  const amount = time && size ? `${time} (${size})` : (time ?? `at least ${size}`);
  const from = fromSeconds.toFixed(1);
  return `The file isn't complete: ${amount} are missing, from ${from} s on. Send the whole file.`;
}

/** Returns what is missing of an MPEG-TS before a part of it. */
export function gapBefore(
  { video, audio }: Presentation,
  part: number,
  bytes: number,
): MissingMedia | null {
  const isBefore = (span: Span) => span.part < part;
  const fromSeconds = Math.max(endOf(video.filter(isBefore)), endOf(audio.filter(isBefore)));
  const starts = [...video, ...audio].filter((span) => span.part === part);
  const nextSeconds = Math.min(...starts.map(({ start }) => start));
  return { bytes, seconds: Math.max(0, nextSeconds - fromSeconds), fromSeconds };
}

function endOf(spans: readonly Span[]): number {
  return spans.at(-1)?.end ?? 0;
}
