import {
  Encoder,
  type EncoderOptions,
  FilterAPI,
  Frame,
  Log,
  Muxer,
  type Packet,
  Rational,
} from "node-av";
import * as av from "node-av/constants";
import { drawFrames, type Scene, type Screen } from "./video-frames.ts";

export type { Scene } from "./video-frames.ts";

export interface VideoOptions {
  /** Width in pixels, even. Default 640. */
  width?: number;
  /** Height in pixels, even. Default 360. */
  height?: number;
  /** Frames per second, an integer. Default 25. */
  fps?: number;
  /** Maximum distance of keyframes in seconds; the encoder adds one at scene changes. Default 2. */
  keyframeSeconds?: number;
  /**
   * Audio track, default `none`. `tone` is 440 Hz at a fifth of full scale; samples are mono, 16
   * kHz.
   */
  audio?: "none" | "silence" | "tone" | Float32Array;
  /** Number of times the scenes are repeated; repetitions are copied, not encoded. Default 1. */
  rounds?: number;
  /** Video encoder, default H.264. The container follows from the file extension. */
  encoder?: av.FFVideoEncoder;
  /** Options of the encoder. Default for H.264: `{ preset: "veryfast", crf: "23" }`. */
  encoderOptions?: Record<string, string>;
}

const SAMPLE_RATE = 44_100;
const SPEECH_RATE = 16_000;
const SAMPLES_PER_FRAME = 1024;
/** Codec context with flags. */
type CodecContext = { setFlags(...flags: av.AVCodecFlag[]): void };

/**
 * Writes a video of `scenes` to `file`; returns its duration in seconds. The same arguments give
 * the same bytes. Memory holds the packets of one round, whatever the number of rounds.
 */
export async function encodeVideo(file: string, scenes: Scene[], options: VideoOptions = {}) {
  const { width = 640, height = 360, fps = 25, audio = "none", rounds = 1 } = options;
  const screen = { width, height, fps };
  const frames = scenes.reduce((sum, scene) => sum + Math.round(scene.seconds * fps), 0);

  Log.setLevel(av.AV_LOG_ERROR);
  await using muxer = await Muxer.open(file, {
    options: { fflags: "+bitexact", ...(file.endsWith(".mp4") && { movflags: "+faststart" }) },
  });
  using planar = FilterAPI.create("format=yuv420p");
  using videoEncoder = await openVideoEncoder(screen, options);
  using audioEncoder =
    audio === "none" ? null : await Encoder.create(av.FF_ENCODER_AAC, AUDIO_ENCODER);
  const videoFrames = planar.frames(rgbFrames(scenes, screen));
  const tracks = [encodeTrack(muxer, videoEncoder, videoFrames, frames, fps)];
  if (audioEncoder) {
    const rate = audio instanceof Float32Array ? SPEECH_RATE : SAMPLE_RATE;
    const samples = Math.round((frames / fps) * rate);
    const sampleAt = audio instanceof Float32Array ? (at: number) => audio[at] ?? 0 : WAVES[audio];
    tracks.push(
      encodeTrack(muxer, audioEncoder, audioFrames(samples, rate, sampleAt), samples, rate),
    );
  }
  const encoded = await Promise.all(tracks);
  for (let round = 0; round < rounds; round++) {
    for (const timedPacket of interleave(encoded, round, rounds)) {
      await muxer.writePacket(timedPacket.packet, timedPacket.stream);
      timedPacket.packet.free();
    }
  }
  for (const { packets } of encoded) for (const packet of packets) packet.free();
  return (frames / fps) * rounds;
}

const AUDIO_ENCODER: EncoderOptions<typeof av.FF_ENCODER_AAC> = {
  context: { bitRate: "64k" },
  configure: (context: CodecContext) => context.setFlags(av.AV_CODEC_FLAG_BITEXACT),
};

function openVideoEncoder(screen: Screen, options: VideoOptions) {
  const codec = options.encoder ?? av.FF_ENCODER_LIBX264;
  const h264 = { preset: "veryfast", crf: "23" };
  return Encoder.create(codec, {
    // Always two threads: the output depends on their number.
    context: {
      gopSize: Math.max(1, Math.round((options.keyframeSeconds ?? 2) * screen.fps)),
      threadCount: 2,
      framerate: new Rational(screen.fps, 1),
    },
    configure: (context: CodecContext) => {
      context.setFlags(av.AV_CODEC_FLAG_BITEXACT);
      // Rounds are concatenated at keyframes: no frame may refer to one before its keyframe.
      if (codec === av.FF_ENCODER_LIBX264) context.setFlags(av.AV_CODEC_FLAG_CLOSED_GOP);
    },
    options: options.encoderOptions ?? (options.encoder ? {} : h264),
  });
}

interface Track {
  stream: number;
  packets: Packet[];
  /** Duration of a round, and ticks per second, in the track's time base. */
  length: number;
  rate: number;
}

async function encodeTrack(
  muxer: Muxer,
  encoder: Encoder,
  frames: AsyncIterable<Frame | null>,
  length: number,
  rate: number,
): Promise<Track> {
  const stream = muxer.addStream(encoder);
  const packets: Packet[] = [];
  for await (const packet of encoder.packets(frames)) if (packet) packets.push(packet);
  return { stream, packets, length, rate };
}

/** Returns the packets of one round in decoding order, with timestamps of that round. */
function interleave(tracks: Track[], round: number, rounds: number) {
  const timedPackets = tracks.flatMap(({ stream, packets, length, rate }) =>
    packets
      .filter((packet) => round === 0 || packet.pts >= 0n)
      // An audio frame that extends into the next round would overlap the first frame there.
      .filter((packet) => round === rounds - 1 || Number(packet.pts + packet.duration) <= length)
      .map((packet) => ({ stream, seconds: Number(packet.dts) / rate, packet, length })),
  );
  return timedPackets
    .sort((a, b) => a.seconds - b.seconds)
    .map(({ stream, packet, length }) => {
      const copy = packet.clone();
      if (!copy) throw new Error("Out of memory while copying a packet.");
      copy.pts += BigInt(length * round);
      copy.dts += BigInt(length * round);
      return { stream, packet: copy };
    });
}

/** Yields frames, then null, which flushes the encoder. */
async function* rgbFrames(scenes: Scene[], screen: Screen): AsyncGenerator<Frame | null> {
  let pts = 0n;
  const shape = { width: screen.width, height: screen.height, format: av.AV_PIX_FMT_RGB24 };
  for await (const pixels of drawFrames(scenes, screen)) {
    yield Frame.fromVideoBuffer(pixels, {
      ...shape,
      pts: pts++,
      timeBase: { num: 1, den: screen.fps },
    });
  }
  yield null;
}

const WAVES = {
  none: () => 0,
  silence: () => 0,
  tone: (at: number) => 0.2 * Math.sin((2 * Math.PI * 440 * at) / SAMPLE_RATE),
};

async function* audioFrames(
  samples: number,
  rate: number,
  sampleAt: (at: number) => number,
): AsyncGenerator<Frame | null> {
  for (let at = 0; at < samples; at += SAMPLES_PER_FRAME) {
    const length = Math.min(SAMPLES_PER_FRAME, samples - at);
    const values = Float32Array.from({ length }, (_, i) => sampleAt(at + i));
    yield Frame.fromAudioBuffer(Buffer.from(values.buffer), {
      nbSamples: length,
      format: av.AV_SAMPLE_FMT_FLTP,
      sampleRate: rate,
      channelLayout: av.AV_CHANNEL_LAYOUT_MONO,
      pts: BigInt(at),
      timeBase: { num: 1, den: rate },
    });
  }
  yield null;
}
