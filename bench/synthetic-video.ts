import { Encoder, FilterAPI } from "node-av/api";
import { AV_CODEC_FLAG_GLOBAL_HEADER, FF_ENCODER_LIBX264 } from "node-av/constants";
import { type Frame, Rational } from "node-av/lib";
import { writeMediaFile } from "../local/engine/media-file.ts";
import { readVideoTrack } from "../local/engine/media-track.ts";

/** A time range of a video, and the filters applied to its frames. */
export interface ClipSpec {
  path: string;
  /** Start in seconds. */
  start: number;
  end: number;
  /** FFmpeg filter chain; `null` does nothing. */
  filters: string;
}

const TIME_BASE_HZ = 90_000;
const FRAME_RATE = new Rational(25, 1);

/**
 * Concatenates clips into H.264 in MP4 without audio. All clips must have the same size after their
 * filters. `quality` is x264's constant rate factor: higher is worse. Returns the start of each
 * clip in seconds, then the end of the last one.
 */
export async function writeVideo(
  target: string,
  clips: ClipSpec[],
  quality: number,
  signal: AbortSignal,
): Promise<number[]> {
  const starts: number[] = [];
  const frames = concatenate(clips, starts, signal);
  const first = await frames.next();
  if (first.done || !first.value) throw new Error(`${clips[0]?.path} has no frame there.`);
  const encoder = await Encoder.create(FF_ENCODER_LIBX264, {
    threadCount: 2,
    options: { preset: "veryfast", crf: quality },
    configure: (context) => {
      context.framerate = FRAME_RATE;
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
  return starts;
}

async function* prepend(first: Frame, rest: AsyncGenerator<Frame | null, void>) {
  yield first;
  yield* rest;
}

async function* concatenate(
  clips: ClipSpec[],
  starts: number[],
  signal: AbortSignal,
): AsyncGenerator<Frame | null, void> {
  let offset = 0n;
  starts.push(0);
  for (const { path, start, end, filters } of clips) {
    const trim = `trim=start=${start},setpts=PTS-${start}/TB`;
    using filter = FilterAPI.create(`${trim},${filters},setsar=1,format=yuv420p`);
    let last = offset;
    // Decodes from the start: in some files the first frames after a seek are wrong.
    for await (const frame of filter.frames(readVideoTrack(path, { start: 0, end }, null))) {
      signal.throwIfAborted();
      if (!frame) continue;
      const { num, den } = frame.timeBase;
      const ticks = (time: bigint) => BigInt(Math.round((Number(time) * num * TIME_BASE_HZ) / den));
      const [pts, duration] = [ticks(frame.pts), ticks(frame.duration)];
      frame.timeBase = new Rational(1, TIME_BASE_HZ);
      frame.pts = offset + pts;
      frame.duration = duration > 0n ? duration : 1n;
      last = frame.pts + frame.duration;
      yield frame;
    }
    offset = last;
    starts.push(Number(offset) / TIME_BASE_HZ);
  }
  yield null;
}
