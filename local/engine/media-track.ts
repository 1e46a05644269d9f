import { FilterAPI } from "node-av/api";
import { AV_PICTURE_TYPE_NONE } from "node-av/constants";
import { type Frame, Rational } from "node-av/lib";
import { EngineError } from "./errors.ts";
import { fitSize } from "./media-fit.ts";
import { getOrientation } from "./media-orientation.ts";
import { toUprightFilters } from "./media-picture.ts";
import { MediaReader } from "./media-reader.ts";
import { ShownFrames } from "./media-shown.ts";
import { openMedia } from "./media-source.ts";

/** A span of the file, in seconds from its origin. */
export interface Span {
  start: number;
  end: number;
}

/** Frames on a clock that is zero at the span's start, then null. The consumer frees them. */
export type Track = AsyncGenerator<Frame | null, void>;

const CLOCK = 90_000;
const SAMPLE_RATES = "48000|44100|32000|24000|22050|16000|12000|11025|8000|64000|88200|96000";
/** The encoder drops what doesn't fill a frame of this many samples, so silence fills it. */
const AAC_FRAME = 1_024;
/** Decoded ahead of the span, because the first packets after a jump decode to less. Seconds. */
const AUDIO_LEAD = 0.25;

/** Upright pictures in 4:2:0, `width` pixels wide or as they are. Errors: `no_video`. */
export async function* readVideoTrack(
  path: string,
  span: Span,
  width: number | null,
  signal: AbortSignal,
): Track {
  const source = await openMedia(path);
  try {
    if (!source.video) throw new EngineError("no_video", "The file has no video.");
    const orientation = getOrientation(source.video);
    const { scaled } = fitSize(orientation, { width, height: null, fit: "contain" });
    const even = { width: toEven(scaled.width), height: toEven(scaled.height) };
    using filter = FilterAPI.create(`${toUprightFilters(orientation, even)},format=yuv420p`);
    const reader = await MediaReader.open(source, source.video, signal);
    const frames = new ShownFrames(reader);
    const end = Math.min(span.end, source.durationSeconds ?? span.end);
    try {
      yield* filter.frames(listShown(frames, { start: span.start, end }));
    } finally {
      frames.close();
      reader.close();
    }
  } finally {
    await source.close();
  }
}

async function* listShown(frames: ShownFrames, { start, end }: Span): Track {
  let last = -1n;
  let shown = await frames.at(start);
  while (shown && shown.seconds < end) {
    const at = toClock(Math.max(shown.seconds, start) - start);
    const until = toClock(Math.min(frames.untilSeconds ?? end, end) - start);
    const frame = at > last ? shown.frame.clone() : null;
    if (frame) {
      frame.timeBase = new Rational(1, CLOCK);
      frame.pts = at;
      frame.duration = until > at ? until - at : 1n;
      frame.pictType = AV_PICTURE_TYPE_NONE;
      last = at;
      yield frame;
    }
    shown = await frames.advance();
  }
  yield null;
}

/** Sound in mono or stereo, gaps filled with silence. Errors: `no_audio`. */
export async function* readAudioTrack(path: string, span: Span, signal: AbortSignal): Track {
  const source = await openMedia(path);
  try {
    const { audio } = source;
    if (!audio) throw new EngineError("no_audio", "The file has no sound.");
    const layout = audio.codecpar.channels === 1 ? "mono" : "stereo";
    using filter = FilterAPI.create(
      `atrim=start=0:end=${span.end - span.start},aresample=async=1000:first_pts=0,` +
        `aformat=sample_fmts=fltp:channel_layouts=${layout}:sample_rates=${SAMPLE_RATES},` +
        `apad=pad_len=${AAC_FRAME}`,
    );
    const reader = await MediaReader.open(source, audio, signal);
    try {
      if (span.start > AUDIO_LEAD) await reader.seek(span.start - AUDIO_LEAD);
      yield* filter.frames(listSound(reader, span));
    } finally {
      reader.close();
    }
  } finally {
    await source.close();
  }
}

async function* listSound(reader: MediaReader, { start, end }: Span): Track {
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

function toClock(seconds: number): bigint {
  return BigInt(Math.round(seconds * CLOCK));
}

/** 4:2:0 halves both sides. */
function toEven(pixels: number): number {
  return Math.max(2, Math.round(pixels / 2) * 2);
}
