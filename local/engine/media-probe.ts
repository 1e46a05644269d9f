import { AV_NOPTS_VALUE } from "node-av/constants";
import { avGetCodecName, Packet } from "node-av/lib";
import { getOrientation } from "./media-orientation.ts";
import { type MediaSource, openMedia, toSeconds } from "./media-source.ts";

export interface MediaFacts {
  container: string;
  /** From the start of the video (without one, of the audio) to the end; null if unknown. */
  duration_seconds: number | null;
  /** Display size: upright, square pixels. Rotation is clockwise, in degrees. */
  video: { codec: string; width: number; height: number; fps: number; rotation: number } | null;
  audio: { codec: string; sample_rate: number; channels: number } | null;
}

/**
 * Reads a file's facts; measures the duration if the container lacks it. Errors:
 * `undecodable_media`.
 */
export async function probeMedia(path: string): Promise<MediaFacts> {
  const source = await openMedia(path);
  try {
    return toMediaFacts(source, source.durationSeconds ?? (await measureDuration(source)));
  } finally {
    await source.close();
  }
}

/** Returns the facts of an open file. */
export function toMediaFacts(source: MediaSource, seconds = source.durationSeconds): MediaFacts {
  const { container, video, audio } = source;
  return {
    container,
    duration_seconds: seconds === null ? null : Math.round(seconds * 1e6) / 1e6,
    video: video && {
      codec: avGetCodecName(video.codecpar.codecId) ?? "unknown",
      ...toDisplaySize(getOrientation(video)),
      fps: video.avgFrameRate.den > 0 ? video.avgFrameRate.num / video.avgFrameRate.den : 0,
    },
    audio: audio && {
      codec: avGetCodecName(audio.codecpar.codecId) ?? "unknown",
      sample_rate: audio.codecpar.sampleRate,
      channels: audio.codecpar.channels,
    },
  };
}

function toDisplaySize({
  width,
  height,
  rotation,
}: {
  width: number;
  height: number;
  rotation: number;
}) {
  return { width, height, rotation };
}

/** Returns the end of the last packet in seconds, for containers without a duration. */
async function measureDuration(source: MediaSource): Promise<number> {
  using packet = new Packet();
  packet.alloc();
  let end = source.originSeconds;
  while ((await source.context.readFrame(packet)) >= 0) {
    const stream = source.context.streams[packet.streamIndex];
    if (stream && packet.pts !== AV_NOPTS_VALUE) {
      end = Math.max(end, toSeconds(packet.pts + packet.duration, stream));
    }
    packet.unref();
  }
  return end - source.originSeconds;
}
