import type { InputAudioTrack, InputTrack, InputVideoTrack } from "mediabunny";
import type { Span } from "./timeline.ts";

/** A span whose track can be read. */
export interface TrackSpan<Track extends InputTrack> extends Span {
  open: () => Promise<Track>;
}

/** A track as a player presents it. */
export interface PresentedTrack<Track extends InputTrack> {
  /** The first of its streams: states codec and size. */
  track: Track;
  /** Spans in the order in which they are shown. There is at least one. */
  spans: readonly TrackSpan<Track>[];
}

export type PresentedVideo = PresentedTrack<InputVideoTrack>;
export type PresentedAudio = PresentedTrack<InputAudioTrack>;

/** Presents all of a stream at its own times. */
export function presentWhole<Track extends InputTrack>(track: Track): PresentedTrack<Track> {
  const open = async () => track;
  const times = { start: 0, end: Number.MAX_SAFE_INTEGER, streamStart: 0, rate: 1 };
  return { track, spans: [{ ...times, part: 0, open }] };
}
