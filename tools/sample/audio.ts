import { Encoder, type EncoderOptions, FilterAPI, Frame, Log, Muxer, Rational } from "node-av";
import * as av from "node-av/constants";

const SAMPLE_RATE = 16_000;
const SAMPLES_PER_FRAME = 1024;

/** Encoders by file extension, with the samples and the frames that each takes. */
const ENCODERS: Record<string, { encoder: av.FFAudioEncoder; frames: string }> = {
  mp3: { encoder: av.FF_ENCODER_LIBMP3LAME, frames: "fltp:sample_rates=44100,asetnsamples=1152" },
  m4a: { encoder: av.FF_ENCODER_AAC, frames: "fltp:sample_rates=44100,asetnsamples=1024" },
  wav: { encoder: av.FF_ENCODER_PCM_S16LE, frames: "s16:sample_rates=16000,asetnsamples=1024" },
  flac: { encoder: av.FF_ENCODER_FLAC, frames: "s16:sample_rates=16000,asetnsamples=4096" },
  ogg: { encoder: av.FF_ENCODER_LIBVORBIS, frames: "fltp:sample_rates=44100,asetnsamples=64" },
  mp4: { encoder: av.FF_ENCODER_AAC, frames: "fltp:sample_rates=44100,asetnsamples=1024" },
  aiff: { encoder: av.FF_ENCODER_PCM_S16BE, frames: "s16:sample_rates=16000,asetnsamples=1024" },
  mov: { encoder: av.FF_ENCODER_ALAC, frames: "s16p:sample_rates=44100,asetnsamples=4096" },
  ac3: { encoder: av.FF_ENCODER_AC3, frames: "fltp:sample_rates=44100,asetnsamples=1536" },
  wma: { encoder: av.FF_ENCODER_WMAV2, frames: "fltp:sample_rates=44100,asetnsamples=2048" },
  opus: { encoder: av.FF_ENCODER_LIBOPUS, frames: "flt:sample_rates=48000,asetnsamples=960" },
};

/**
 * Writes sound to a file, whose extension chooses the format. Samples are mono, 16 kHz. `cover` is
 * an image of RGB pixels, which becomes a video track of one frame.
 */
export async function encodeAudio(
  file: string,
  samples: Float32Array,
  cover?: { width: number; height: number; rgb: Buffer },
): Promise<void> {
  const format = ENCODERS[file.split(".").at(-1)!]!;
  Log.setLevel(av.AV_LOG_ERROR);
  await using muxer = await Muxer.open(file, { options: { fflags: "+bitexact" } });
  using filter = FilterAPI.create(`aformat=channel_layouts=mono:sample_fmts=${format.frames}`);
  const options: EncoderOptions<av.FFAudioEncoder> = {
    configure: (context: { setFlags(...flags: av.AVCodecFlag[]): void }) =>
      context.setFlags(av.AV_CODEC_FLAG_BITEXACT),
  };
  using encoder = await Encoder.create(format.encoder, options);
  using still = cover ? await Encoder.create(av.FF_ENCODER_MJPEG, STILL) : null;
  const stream = muxer.addStream(encoder);
  if (cover && still) {
    const stillStream = muxer.addStream(still);
    using pixels = FilterAPI.create("format=yuvj420p");
    for await (const packet of still.packets(pixels.frames(listStill(cover)))) {
      if (packet) await muxer.writePacket(packet, stillStream);
    }
  }
  for await (const packet of encoder.packets(filter.frames(listFrames(samples)))) {
    if (!packet) continue;
    await muxer.writePacket(packet, stream);
    packet.free();
  }
}

/** Yields frames, then null, which flushes the encoder. */
async function* listFrames(samples: Float32Array): AsyncGenerator<Frame | null> {
  for (let at = 0; at < samples.length; at += SAMPLES_PER_FRAME) {
    const values = samples.slice(at, at + SAMPLES_PER_FRAME);
    yield Frame.fromAudioBuffer(Buffer.from(values.buffer), {
      nbSamples: values.length,
      format: av.AV_SAMPLE_FMT_FLTP,
      sampleRate: SAMPLE_RATE,
      channelLayout: av.AV_CHANNEL_LAYOUT_MONO,
      pts: BigInt(at),
      timeBase: { num: 1, den: SAMPLE_RATE },
    });
  }
  yield null;
}

const STILL = { context: { framerate: new Rational(1, 1) } };

async function* listStill(cover: { width: number; height: number; rgb: Buffer }) {
  const { rgb, width, height } = cover;
  yield Frame.fromVideoBuffer(rgb, {
    width,
    height,
    format: av.AV_PIX_FMT_RGB24,
    pts: 0n,
    timeBase: { num: 1, den: 1 },
  });
  yield null;
}
