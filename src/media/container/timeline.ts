import type { InputAudioTrack, InputTrack, InputVideoTrack } from "mediabunny";
import { maxOf, minOf } from "../../lists.ts";
import type { TimeRange } from "../../time-range.ts";

/** What a file has of a track. Times are those of the stream, in seconds. */
export interface TrackExtent {
  first: number;
  end: number;
  /** End by what the container says of it, not before `end`. */
  promisedEnd: number;
  /** What the edit list presents, null for all of the stream. */
  edit: TimeRange | null;
}

/** When the tracks of a file are presented. Zero is the first moment that a player shows. */
export interface Presentation {
  /** Time of the stream that is zero. */
  origin: number;
  video: TimeRange | null;
  audio: TimeRange | null;
  /** End of the last track. */
  durationSeconds: number;
}

/**
 * Audio that begins or ends this much outside of the picture is what encoders add to fill whole
 * frames. It isn't presented.
 */
const PADDING_SECONDS = 0.1;
/** Less than the duration of any frame: how far the last moment of a track is before its end. */
const INSTANT_SECONDS = 1e-4;
/** Rounding errors of sums of fractions. */
const ROUNDING_SECONDS = 1e-6;

/** Places the tracks of a file, which have one clock, on one timeline. */
export function presentTracks(
  pictures: TrackExtent | null,
  sound: TrackExtent | null,
): Presentation {
  const [shown, heard] = [presentedRange(pictures), presentedRange(sound)];
  const isSoundFirst = heard && !(shown && heard.start >= shown.start - PADDING_SECONDS);
  const origin = (isSoundFirst ? heard : shown)?.start ?? 0;
  const place = (range: TimeRange | null) =>
    range && range.end > origin
      ? { start: Math.max(0, range.start - origin), end: range.end - origin }
      : null;
  const [video, audio] = [place(shown), place(heard)];
  const [videoEnd, audioEnd] = [video?.end ?? 0, audio?.end ?? 0];
  const isPadding = videoEnd > 0 && audioEnd - videoEnd < PADDING_SECONDS;
  const durationSeconds = isPadding ? videoEnd : Math.max(videoEnd, audioEnd);
  if (audio) audio.end = Math.min(audioEnd, durationSeconds);
  return { origin, video, audio, durationSeconds };
}

/** Returns what a player shows of a track: all of it where its edit list shows nothing. */
function presentedRange(extent: TrackExtent | null): TimeRange | null {
  if (!extent || extent.end <= extent.first) return null;
  const { first, end, edit } = extent;
  const edited = edit && { start: Math.max(first, edit.start), end: Math.min(end, edit.end) };
  return edited && edited.start < edited.end ? edited : { start: first, end };
}

/** A track as a player presents it, and when, in seconds of the presentation. */
export interface PresentedTrack<Track extends InputTrack> extends TimeRange {
  track: Track;
  /** Time of the stream that is the zero of the presentation. */
  origin: number;
}

export type PresentedVideo = PresentedTrack<InputVideoTrack>;
export type PresentedAudio = PresentedTrack<InputAudioTrack>;
type TrackTimes = Pick<PresentedVideo, "start" | "end" | "origin">;

/** Presents all of a stream at its own times. */
export function presentWhole<Track extends InputTrack>(track: Track): PresentedTrack<Track> {
  return { track, start: 0, end: Number.MAX_SAFE_INTEGER, origin: 0 };
}

/** Whether a time range shows something of a track. */
export function isPresented(track: TimeRange, { start, end }: TimeRange): boolean {
  return track.start < end && track.end > start + ROUNDING_SECONDS;
}

/**
 * Converts a time of the presentation to that of the stream: of the first frame before it begins,
 * and of the last one, which stays on screen, from its end on.
 */
export function toStreamTime({ start, end, origin }: TrackTimes, seconds: number): number {
  const last = Math.max(start, end - INSTANT_SECONDS);
  return origin + Math.min(Math.max(seconds, start), last);
}

/** Clips a time range to a track, in stream time. It has an instant at least. */
export function toStreamRange(track: TrackTimes, range: TimeRange): TimeRange {
  const start = toStreamTime(track, range.start);
  const end = track.origin + Math.min(range.end, track.end);
  return { start, end: Math.max(end, start + INSTANT_SECONDS) };
}

/** Converts a time of the stream to that of the presentation, within the track. */
export function toPresentationTime({ start, end, origin }: TrackTimes, streamSeconds: number) {
  return Math.min(end, Math.max(start, streamSeconds - origin));
}

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
  const lost = (["video", "audio"] as const)
    .map((kind) => ({ from: actual[kind]?.end ?? 0, to: promised[kind]?.end ?? 0 }))
    .filter(({ from, to }) => to > from);
  const seconds = maxOf(
    lost.map(({ from, to }) => to - from),
    0,
  );
  const tolerance = Math.max(TOLERANCE.seconds, TOLERANCE.share * promised.durationSeconds);
  const isWhole = bytes > 0 ? isTimed && seconds === 0 : seconds <= tolerance;
  if (isWhole) return null;
  const fromSeconds = minOf(
    lost.map(({ from }) => from),
    actual.durationSeconds,
  );
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
