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
import { drawFrames, type Scene, type Screen } from "./film-frames.ts";

export type { Scene } from "./film-frames.ts";

export interface FilmOptions {
  /** Pixels, even. Default 640. */
  width?: number;
  /** Pixels, even. Default 360. */
  height?: number;
  /** Whole frames a second. Default 25. */
  fps?: number;
  /** Longest distance between keyframes; the encoder adds one where a scene changes. Default 2. */
  keyframeSeconds?: number;
  /** Default `none`. A tone is 440 Hz at a fifth of full scale; samples are mono, 16 kHz. */
  audio?: "none" | "silence" | "tone" | Float32Array;
  /** How often the whole film is played; later rounds are copied, not encoded. Default 1. */
  rounds?: number;
  /** Default H.264. The container follows from the file's extension. */
  encoder?: av.FFVideoEncoder;
  /** The encoder's own options. Default for H.264: `{ preset: "veryfast", crf: "23" }`. */
  encoderOptions?: Record<string, string>;
}

const SAMPLE_RATE = 44_100;
const SPEECH_RATE = 16_000;
const SAMPLES_PER_FRAME = 1024;
/** Flags of a codec context. */
type Flagged = { setFlags(...flags: av.AVCodecFlag[]): void };

/**
 * Writes a film of `scenes` to `file`; returns its length in seconds. The same arguments give the
 * same bytes. Memory holds one round, whatever the number of rounds.
 */
export async function encodeFilm(file: string, scenes: Scene[], options: FilmOptions = {}) {
  const { width = 640, height = 360, fps = 25, audio = "none", rounds = 1 } = options;
  const screen = { width, height, fps };
  const frames = scenes.reduce((sum, scene) => sum + Math.round(scene.seconds * fps), 0);

  Log.setLevel(av.AV_LOG_ERROR);
  await using muxer = await Muxer.open(file, {
    options: { fflags: "+bitexact", ...(file.endsWith(".mp4") && { movflags: "+faststart" }) },
  });
  using planar = FilterAPI.create("format=yuv420p");
  using picture = await openPictureEncoder(screen, options);
  using sound = audio === "none" ? null : await Encoder.create(av.FF_ENCODER_AAC, SOUND);
  const pictures = planar.frames(rgbFrames(scenes, screen));
  const tracks = [track(muxer, picture, pictures, frames, fps)];
  if (sound) {
    const rate = audio instanceof Float32Array ? SPEECH_RATE : SAMPLE_RATE;
    const samples = Math.round((frames / fps) * rate);
    const wave = audio instanceof Float32Array ? (at: number) => audio[at] ?? 0 : WAVES[audio];
    tracks.push(track(muxer, sound, soundFrames(samples, rate, wave), samples, rate));
  }
  const encoded = await Promise.all(tracks);
  for (let round = 0; round < rounds; round++) {
    for (const piece of interleave(encoded, round, rounds)) {
      await muxer.writePacket(piece.packet, piece.stream);
      piece.packet.free();
    }
  }
  for (const { packets } of encoded) for (const packet of packets) packet.free();
  return (frames / fps) * rounds;
}

const SOUND: EncoderOptions<typeof av.FF_ENCODER_AAC> = {
  context: { bitRate: "64k" },
  configure: (context: Flagged) => context.setFlags(av.AV_CODEC_FLAG_BITEXACT),
};

function openPictureEncoder(screen: Screen, options: FilmOptions) {
  const codec = options.encoder ?? av.FF_ENCODER_LIBX264;
  const h264 = { preset: "veryfast", crf: "23" };
  return Encoder.create(codec, {
    // Two threads whatever the machine has: the bytes depend on their number.
    context: {
      gopSize: Math.max(1, Math.round((options.keyframeSeconds ?? 2) * screen.fps)),
      threadCount: 2,
      framerate: new Rational(screen.fps, 1),
    },
    configure: (context: Flagged) => {
      context.setFlags(av.AV_CODEC_FLAG_BITEXACT);
      // Rounds are joined at keyframes: no picture may look back past one.
      if (codec === av.FF_ENCODER_LIBX264) context.setFlags(av.AV_CODEC_FLAG_CLOSED_GOP);
    },
    options: options.encoderOptions ?? (options.encoder ? {} : h264),
  });
}

interface Track {
  stream: number;
  packets: Packet[];
  /** Length of a round, and ticks a second, in the track's own time base. */
  length: number;
  rate: number;
}

async function track(
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

/** The packets of one round in the order of their decoding, moved to that round's time. */
function interleave(tracks: Track[], round: number, rounds: number) {
  const pieces = tracks.flatMap(({ stream, packets, length, rate }) =>
    packets
      .filter((packet) => round === 0 || packet.pts >= 0n)
      // A sound frame that runs into the next round would overlap its first.
      .filter((packet) => round === rounds - 1 || Number(packet.pts + packet.duration) <= length)
      .map((packet) => ({ stream, seconds: Number(packet.dts) / rate, packet, length })),
  );
  return pieces
    .sort((a, b) => a.seconds - b.seconds)
    .map(({ stream, packet, length }) => {
      const copy = packet.clone();
      if (!copy) throw new Error("Out of memory while copying a packet.");
      copy.pts += BigInt(length * round);
      copy.dts += BigInt(length * round);
      return { stream, packet: copy };
    });
}

/** Frames, then null, which makes the encoder hand out what it holds back. */
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

async function* soundFrames(
  samples: number,
  rate: number,
  wave: (at: number) => number,
): AsyncGenerator<Frame | null> {
  for (let at = 0; at < samples; at += SAMPLES_PER_FRAME) {
    const length = Math.min(SAMPLES_PER_FRAME, samples - at);
    const values = Float32Array.from({ length }, (_, i) => wave(at + i));
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
