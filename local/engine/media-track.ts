import { FilterAPI } from "node-av/api";
import { AV_PICTURE_TYPE_NONE } from "node-av/constants";
import { type Frame, Rational } from "node-av/lib";
import { EngineError } from "./errors.ts";
import { fitSize } from "./media-fit.ts";
import { toCopyFilters } from "./media-image.ts";
import { getOrientation } from "./media-orientation.ts";
import { MediaReader } from "./media-reader.ts";
import { openMedia } from "./media-source.ts";
import { PresentedFrames } from "./presented-frames.ts";

/** A range of a file in seconds from its origin. */
export interface TimeRange {
  start: number;
  end: number;
}

/** Frames timed from the range's start, then null. The consumer frees them. */
export type Track = AsyncGenerator<Frame | null, void>;

const TICKS_PER_SECOND = 90_000;
const SAMPLE_RATES = "48000|44100|32000|24000|22050|16000|12000|11025|8000|64000|88200|96000";
/** Samples per AAC frame. The encoder drops an incomplete frame, so it is padded with silence. */
const AAC_FRAME = 1_024;
/** Seconds decoded before the range: the first packets after a seek decode incompletely. */
const AUDIO_LEAD_SECONDS = 0.25;

/** Yields upright frames in 4:2:0, scaled to `width` pixels unless null. Errors: `no_video`. */
export async function* readVideoTrack(path: string, range: TimeRange, width: number | null): Track {
  const source = await openMedia(path);
  try {
    if (!source.video) throw new EngineError("no_video", "The file has no video.");
    const orientation = getOrientation(source.video);
    const { scaled } = fitSize(orientation, { width, height: null, fit: "contain" });
    const even = { width: toEven(scaled.width), height: toEven(scaled.height) };
    using filter = FilterAPI.create(toCopyFilters(source.video, even));
    const reader = await MediaReader.open(source, source.video);
    const frames = new PresentedFrames(reader);
    const end = Math.min(range.end, source.durationSeconds ?? range.end);
    try {
      yield* filterByDuration(filter, listPresentedFrames(frames, { start: range.start, end }));
    } finally {
      frames.close();
      reader.close();
    }
  } finally {
    await source.close();
  }
}

/** Yields the frames of a filter that gives one for each, as long as those, then null. */
export async function* filterByDuration(filter: FilterAPI, frames: Track): Track {
  const durations: bigint[] = [];
  async function* noted(): Track {
    for await (const frame of frames) {
      if (frame) durations.push(frame.duration);
      yield frame;
    }
  }
  for await (const frame of filter.frames(noted())) {
    if (frame) frame.duration = durations.shift() ?? frame.duration;
    yield frame;
  }
}

/** Yields the frames on screen in a range, timed from its start, then null. */
export async function* listPresentedFrames(
  frames: PresentedFrames,
  { start, end }: TimeRange,
): Track {
  let last = -1n;
  let presented = await frames.at(start);
  while (presented && presented.seconds < end) {
    const at = toTicks(Math.max(presented.seconds, start) - start);
    const until = toTicks(Math.min(frames.untilSeconds ?? end, end) - start);
    const frame = at > last ? presented.frame.clone() : null;
    if (frame) {
      frame.timeBase = new Rational(1, TICKS_PER_SECOND);
      frame.pts = at;
      frame.duration = until > at ? until - at : 1n;
      frame.pictType = AV_PICTURE_TYPE_NONE;
      last = at;
      yield frame;
    }
    presented = await frames.advance();
  }
  yield null;
}

/** Yields audio in mono or stereo, gaps filled with silence. Errors: `no_audio`. */
export async function* readAudioTrack(path: string, range: TimeRange): Track {
  const source = await openMedia(path);
  try {
    const { audio } = source;
    if (!audio) throw new EngineError("no_audio", "The file has no audio.");
    const layout = audio.codecpar.channels === 1 ? "mono" : "stereo";
    using filter = FilterAPI.create(
      `atrim=start=0:end=${range.end - range.start},aresample=async=1000:first_pts=0,` +
        `aformat=sample_fmts=fltp:channel_layouts=${layout}:sample_rates=${SAMPLE_RATES},` +
        `apad=pad_len=${AAC_FRAME}`,
    );
    const reader = await MediaReader.open(source, audio);
    try {
      if (range.start > AUDIO_LEAD_SECONDS) await reader.seek(range.start - AUDIO_LEAD_SECONDS);
      yield* filter.frames(listAudioFrames(reader, range));
    } finally {
      reader.close();
    }
  } finally {
    await source.close();
  }
}

/** Yields the audio frames up to the end of a range, timed from its start, then null. */
export async function* listAudioFrames(reader: MediaReader, { start, end }: TimeRange): Track {
  for (;;) {
    const next = await reader.next();
    if (!next) break;
    if (next.seconds >= end) {
      next.frame.free();
      break;
    }
    const rate = next.frame.sampleRate;
    next.frame.timeBase = new Rational(1, rate);
    next.frame.pts = BigInt(Math.round((next.seconds - start) * rate));
    yield next.frame;
  }
  yield null;
}

function toTicks(seconds: number): bigint {
  return BigInt(Math.round(seconds * TICKS_PER_SECOND));
}

/** Rounds to an even number, which 4:2:0 requires. */
function toEven(pixels: number): number {
  return Math.max(2, Math.round(pixels / 2) * 2);
}
