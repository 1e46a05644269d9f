import type { Span } from "./media-track.ts";

/** How many seconds a probability stands for. */
export const FRAME_SECONDS = 0.032;

/** A span begins at this probability of a voice … */
const BEGINS = 0.5;
/** … and ends where it stays below this one … */
const ENDS = 0.35;
/** … for this many seconds. */
const MIN_SILENCE = 0.3;
/** Seconds; less is a click or a cough. */
const MIN_SPEECH = 0.25;
/** Seconds added on each side, because words begin and end softly. */
const PADDING = 0.2;

/**
 * The spans with a voice in them, in seconds, given its probability in each frame of a sound of
 * `duration` seconds. They are in order and don't overlap. Hysteresis after `get_speech_timestamps`
 * of Silero VAD (https://github.com/snakers4/silero-vad, src/silero_vad/utils_vad.py).
 */
export function findSpans(probabilities: ArrayLike<number>, duration: number): Span[] {
  const voiced: Span[] = [];
  let begun: number | null = null;
  let lastVoice = 0;
  for (let at = 0; at < probabilities.length; at++) {
    const [probability = 0, start] = [probabilities[at], at * FRAME_SECONDS];
    if (probability >= BEGINS) begun ??= start;
    if (probability >= ENDS) lastVoice = start + FRAME_SECONDS;
    if (begun === null || start + FRAME_SECONDS - lastVoice < MIN_SILENCE) continue;
    voiced.push({ start: begun, end: lastVoice });
    begun = null;
  }
  if (begun !== null) voiced.push({ start: begun, end: Math.min(lastVoice, duration) });
  const long = voiced.filter(({ start, end }) => end - start >= MIN_SPEECH);
  return long.map(({ start, end }, at) => {
    const before = ((long[at - 1]?.end ?? -start) + start) / 2;
    const after = ((long[at + 1]?.start ?? 2 * duration - end) + end) / 2;
    return { start: Math.max(start - PADDING, before), end: Math.min(end + PADDING, after) };
  });
}
