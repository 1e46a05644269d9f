import type { TimeRange } from "./media-track.ts";

/** Seconds per probability. */
export const FRAME_SECONDS = 0.032;

/** Probability at which an interval starts. */
const START_THRESHOLD = 0.5;
/** Probability below which an interval may end. */
const END_THRESHOLD = 0.35;
/** Seconds below the end threshold that end an interval. */
const MIN_SILENCE_SECONDS = 0.3;
/** Minimum length of an interval; shorter ones are clicks or coughs. */
const MIN_SPEECH_SECONDS = 0.25;
/** Seconds added on each side, because words begin and end softly. */
const PADDING_SECONDS = 0.2;

/**
 * Finds speech intervals, in seconds, from the probability of speech in each frame of audio of
 * `duration` seconds. Intervals are ordered and don't overlap. Hysteresis thresholding as in
 * `get_speech_timestamps` of Silero VAD (https://github.com/snakers4/silero-vad,
 * src/silero_vad/utils_vad.py).
 */
export function findSpeechIntervals(
  probabilities: ArrayLike<number>,
  duration: number,
): TimeRange[] {
  const intervals: TimeRange[] = [];
  let intervalStart: number | null = null;
  let voiceEnd = 0;
  for (let at = 0; at < probabilities.length; at++) {
    const [probability = 0, start] = [probabilities[at], at * FRAME_SECONDS];
    if (probability >= START_THRESHOLD) intervalStart ??= start;
    if (probability >= END_THRESHOLD) voiceEnd = start + FRAME_SECONDS;
    if (intervalStart === null || start + FRAME_SECONDS - voiceEnd < MIN_SILENCE_SECONDS) continue;
    intervals.push({ start: intervalStart, end: voiceEnd });
    intervalStart = null;
  }
  if (intervalStart !== null)
    intervals.push({ start: intervalStart, end: Math.min(voiceEnd, duration) });
  const long = intervals.filter(({ start, end }) => end - start >= MIN_SPEECH_SECONDS);
  return long.map(({ start, end }, at) => {
    const minStart = ((long[at - 1]?.end ?? -start) + start) / 2;
    const maxEnd = ((long[at + 1]?.start ?? 2 * duration - end) + end) / 2;
    return {
      start: Math.max(start - PADDING_SECONDS, minStart),
      end: Math.min(end + PADDING_SECONDS, maxEnd),
    };
  });
}
