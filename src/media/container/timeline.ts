import type { TimeRange } from "../../time-range.ts";

/** A stretch of a track that a player shows in one go. Times are in seconds. */
export interface Span extends TimeRange {
  /** Index of the part of the file that holds the stream. */
  part: number;
  /** Time in the stream that is presented at `start`. */
  streamStart: number;
  /** Seconds of the stream in a second of presentation: 0 for a still. */
  rate: number;
}

/** An entry of an edit list, in seconds. */
export interface Edit {
  /** 0 for the rest of the stream. */
  duration: number;
  /** Time in the stream, null for a pause. */
  streamStart: number | null;
  rate: number;
}

/** What a part of a file has of a track. Times are those of the stream, in seconds. */
export interface TrackExtent {
  first: number;
  end: number;
  /** End by what the container says of it, not before `end`. */
  promisedEnd: number;
  /** Edit list. Empty: all of the stream is presented. */
  edits: readonly Edit[];
}

/** A part of a file with a clock of its own, or one that continues the clock of the part before. */
export interface PartExtent {
  video: TrackExtent | null;
  audio: TrackExtent | null;
  continuesClock: boolean;
}

/** When the tracks of a file are presented. Zero is the first moment that a player shows. */
export interface Presentation {
  video: Span[];
  audio: Span[];
  /** End of the last track. */
  durationSeconds: number;
}

/**
 * Audio that begins or ends this much outside of the picture is what encoders add to fill whole
 * frames. It isn't presented.
 */
const PADDING_SECONDS = 0.1;
/** Less than the duration of any frame: how far the last moment of a span is before its end. */
const INSTANT_SECONDS = 1e-4;
/** Rounding errors of sums of fractions. */
const ROUNDING_SECONDS = 1e-6;

/** Places the parts of a file on one timeline, each after the end of the one before. */
export function combineParts(parts: readonly PartExtent[]): Presentation {
  const presentation: Presentation = { video: [], audio: [], durationSeconds: 0 };
  let [shift, end] = [0, 0];
  for (const [part, { video, audio, continuesClock }] of parts.entries()) {
    const [shown, heard] = [presentedSpans(video, part), presentedSpans(audio, part)];
    if (part === 0 || !continuesClock) shift = end - firstMoment(shown, heard);
    const place = (spans: Span[]) =>
      spans.flatMap((span) => clip({ ...span, start: span.start + shift, end: span.end + shift }));
    const [placedVideo, placedAudio] = [place(shown), place(heard)];
    const [videoEnd, audioEnd] = [endOf(placedVideo), endOf(placedAudio)];
    const isPadding = videoEnd > 0 && audioEnd - videoEnd < PADDING_SECONDS;
    end = Math.max(end, videoEnd, isPadding ? 0 : audioEnd);
    presentation.video.push(...placedVideo);
    for (const span of placedAudio) span.end = Math.min(span.end, end);
    presentation.audio.push(...placedAudio);
  }
  return { ...presentation, durationSeconds: end };
}

/** Returns the spans of a track in the time of its part. */
function presentedSpans(extent: TrackExtent | null, part: number): Span[] {
  if (!extent || extent.end <= extent.first) return [];
  const { first, end, edits } = extent;
  const spans: Span[] = [];
  let start = 0;
  for (const { duration, streamStart, rate } of edits) {
    if (streamStart !== null) {
      const [from, to] = [Math.max(first, streamStart), end];
      const spanStart = start + (rate > 0 ? (from - streamStart) / rate : 0);
      const available = rate > 0 ? spanStart + (to - from) / rate : Infinity;
      const spanEnd = Math.min(duration > 0 ? start + duration : Infinity, available);
      if (from < to && spanEnd > spanStart && spanEnd < Infinity)
        spans.push({ part, start: spanStart, end: spanEnd, streamStart: from, rate });
    }
    start += duration;
  }
  return spans.length > 0 ? spans : [{ part, start: first, end, streamStart: first, rate: 1 }];
}

/** Returns when a player begins: with the picture, or with sound that begins well before it. */
function firstMoment(video: readonly Span[], audio: readonly Span[]): number {
  const [shown, heard] = [video[0]?.start ?? Infinity, audio[0]?.start ?? Infinity];
  const start = heard < shown - PADDING_SECONDS ? heard : shown;
  return start === Infinity ? 0 : start;
}

/** Cuts off what lies before zero. */
function clip(span: Span): Span[] {
  if (span.end <= 0) return [];
  if (span.start >= 0) return [span];
  return [{ ...span, start: 0, streamStart: span.streamStart - span.start * span.rate }];
}

function endOf(spans: readonly Span[]): number {
  return Math.max(0, ...spans.map(({ end }) => end));
}

/**
 * Returns the span that is on screen at a time: in a gap the one before it, whose last frame stays,
 * and before the first span that one. Undefined without spans.
 */
export function spanAt<S extends Span>(spans: readonly S[], seconds: number): S | undefined {
  return spans.findLast(({ start }) => start <= seconds + ROUNDING_SECONDS) ?? spans[0];
}

/** Returns the spans of which a time range shows something. */
export function spansIn<S extends Span>(spans: readonly S[], { start, end }: TimeRange): S[] {
  return spans.filter((span) => span.start < end && span.end > start + ROUNDING_SECONDS);
}

/** Converts a time of the presentation to that of the stream, within the span. */
export function toStreamTime({ start, end, streamStart, rate }: Span, seconds: number): number {
  const last = Math.max(start, end - INSTANT_SECONDS);
  return streamStart + (Math.min(Math.max(seconds, start), last) - start) * rate;
}

/** Returns the range of the stream that presents what of a time range lies in a span. */
export function rangeInSpan(span: Span, range: TimeRange): TimeRange {
  const start = toStreamTime(span, range.start);
  if (range.end < span.end) return { start, end: toStreamTime(span, range.end) };
  const end = span.streamStart + (span.end - span.start) * span.rate;
  return { start, end: Math.max(end, start + INSTANT_SECONDS) };
}

/** Converts a time of the stream to that of the presentation, within the span. */
export function toPresentationTime(span: Span, streamSeconds: number): number {
  const { start, end, streamStart, rate } = span;
  if (rate === 0) return start;
  return Math.min(end, Math.max(start, start + (streamSeconds - streamStart) / rate));
}

/** Returns the range of a part's stream that presents a time range, null if nothing of it does. */
export function streamRange(
  spans: readonly Span[],
  part: number,
  range: TimeRange,
): TimeRange | null {
  const shown = new Set(spansIn(spans, range));
  for (const seconds of [range.start, range.end]) {
    const span = spanAt(spans, seconds);
    if (span) shown.add(span);
  }
  const inPart = [...shown].filter((span) => span.part === part);
  if (inPart.length === 0) return null;
  return {
    start: Math.min(...inPart.map((span) => toStreamTime(span, range.start))),
    end: Math.max(...inPart.map((span) => toStreamTime(span, range.end))),
  };
}
