import { Encoder, FilterAPI } from "node-av/api";
import { AV_CODEC_FLAG_GLOBAL_HEADER, FF_ENCODER_LIBX264 } from "node-av/constants";
import { type Frame, Rational } from "node-av/lib";
import { writeMediaFile } from "../local/engine/media-file.ts";
import { readVideoTrack } from "../local/engine/media-track.ts";

/** A stretch of a film, and what is done to its pictures. */
export interface Take {
  path: string;
  /** Seconds. */
  start: number;
  end: number;
  /** FFmpeg's, in a chain; `null` does nothing. */
  filters: string;
}

const CLOCK = 90_000;
const RATE = new Rational(25, 1);

/**
 * Writes takes, one after another, as H.264 in MP4 without sound; they must end up with the same size.
 * `quality` is x264's constant rate factor: more is worse. Resolves to when each take begins, in seconds,
 * and when the last one ends.
 */
export async function writeFilm(
  target: string,
  takes: Take[],
  quality: number,
  signal: AbortSignal,
): Promise<number[]> {
  const begins: number[] = [];
  const frames = joined(takes, begins, signal);
  const first = await frames.next();
  if (first.done || !first.value) throw new Error(`${takes[0]?.path} has no picture there.`);
  const encoder = await Encoder.create(FF_ENCODER_LIBX264, {
    threadCount: 2,
    options: { preset: "veryfast", crf: quality },
    configure: (context) => {
      context.framerate = RATE;
    },
  });
  try {
    encoder.setCodecFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
    const packets = encoder.packets(prepend(first.value, frames));
    await writeMediaFile(target, "mp4", [{ encoder, packets }]);
  } finally {
    await frames.return();
    encoder.close();
  }
  return begins;
}

async function* prepend(first: Frame, rest: AsyncGenerator<Frame | null, void>) {
  yield first;
  yield* rest;
}

async function* joined(
  takes: Take[],
  begins: number[],
  signal: AbortSignal,
): AsyncGenerator<Frame | null, void> {
  let offset = 0n;
  begins.push(0);
  for (const { path, start, end, filters } of takes) {
    const stretch = `trim=start=${start},setpts=PTS-${start}/TB`;
    using filter = FilterAPI.create(`${stretch},${filters},setsar=1,format=yuv420p`);
    let last = offset;
    // From the beginning: in some films what is decoded after a jump isn't right at once.
    for await (const frame of filter.frames(
      readVideoTrack(path, { start: 0, end }, null, signal),
    )) {
      if (!frame) continue;
      const { num, den } = frame.timeBase;
      const ticks = (time: bigint) => BigInt(Math.round((Number(time) * num * CLOCK) / den));
      const [pts, duration] = [ticks(frame.pts), ticks(frame.duration)];
      frame.timeBase = new Rational(1, CLOCK);
      frame.pts = offset + pts;
      frame.duration = duration > 0n ? duration : 1n;
      last = frame.pts + frame.duration;
      yield frame;
    }
    offset = last;
    begins.push(Number(offset) / CLOCK);
  }
  yield null;
}
