import { AV_NOPTS_VALUE } from "node-av/constants";
import { Packet, type Stream } from "node-av/lib";
import { EngineError } from "./errors.ts";
import { type MediaFacts, toMediaFacts } from "./media-probe.ts";
import { type MediaSource, openMedia, toSeconds } from "./media-source.ts";

/** Facts of a file, and its times as they are presented (docs/formats.md). */
export interface MeasuredMedia extends MediaFacts {
  /** Time in the container of the first moment that a player shows. */
  origin_seconds: number;
  /** From there to the end of the last track. */
  duration_seconds: number;
}

/** First and last moment of a stream in seconds of the container. */
interface Extent {
  first: number;
  end: number;
  packets: number;
}

/** Sound outside of the picture up to this long fills the frames of an encoder. */
const PADDING_SECONDS = 0.1;
const DEFAULT_FPS = 25;

/**
 * Reads all packets of a file, because many containers state no duration, or a wrong one. A picture
 * beside sound is its cover, not a video. Errors: `undecodable_media` without a picture or sound.
 */
export async function measureMedia(path: string): Promise<MeasuredMedia> {
  const source = await openMedia(path);
  try {
    const { video: pictures, audio } = await measureExtents(source);
    const isCover = audio !== null && pictures !== null && pictures.packets < 2;
    const video = isCover ? null : pictures;
    const main = video ?? audio;
    if (!main) throw new EngineError("undecodable_media", "The file has no frames.");
    const isAudioFirst = audio !== null && audio.first < main.first - PADDING_SECONDS;
    const origin = isAudioFirst ? audio.first : main.first;
    const isAudioLast = audio !== null && audio.end - main.end >= PADDING_SECONDS;
    const end = isAudioLast ? audio.end : main.end;
    return {
      ...toMediaFacts(video ? source : { ...source, video: null }),
      origin_seconds: origin,
      duration_seconds: end - origin,
    };
  } finally {
    await source.close();
  }
}

async function measureExtents(source: MediaSource) {
  using packet = new Packet();
  packet.alloc();
  const extents = new Map<number, Extent>();
  const streams = [source.video, source.audio].filter((stream) => stream !== null);
  while ((await source.context.readFrame(packet)) >= 0) {
    const stream = streams.find(({ index }) => index === packet.streamIndex);
    const time = packet.pts === AV_NOPTS_VALUE ? packet.dts : packet.pts;
    if (stream && time !== AV_NOPTS_VALUE) {
      const at = toSeconds(time, stream);
      const { first = at, end = at, packets = 0 } = extents.get(stream.index) ?? {};
      const lasts = packet.duration > 0n ? toSeconds(packet.duration, stream) : frameTime(stream);
      extents.set(stream.index, {
        first: Math.min(first, at),
        end: Math.max(end, at + lasts),
        packets: packets + 1,
      });
    }
    packet.unref();
  }
  const extentOf = (stream: Stream | null) => (stream && extents.get(stream.index)) ?? null;
  return { video: extentOf(source.video), audio: extentOf(source.audio) };
}

function frameTime({ avgFrameRate: { num, den } }: Stream): number {
  return num > 0 && den > 0 ? den / num : 1 / DEFAULT_FPS;
}
