import { randomUUID } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Encoder, FilterAPI, Muxer } from "node-av/api";
import {
  AV_CHANNEL_ORDER_NATIVE,
  AV_LOG_QUIET,
  AV_PIX_FMT_YUV420P,
  AV_SAMPLE_FMT_FLTP,
  FF_ENCODER_AAC,
  FF_ENCODER_LIBX264,
  type FFVideoEncoder,
} from "node-av/constants";
import { Frame, Log, type Packet, Rational } from "node-av/lib";
import sharp from "sharp";

export interface VideoFile {
  width?: number;
  height?: number;
  /** Start of each frame, in milliseconds. */
  times: readonly number[];
  /** Frames from one keyframe to the next. */
  keyframeEvery?: number;
  container?: "mp4" | "matroska" | "mpegts" | "avi" | "flv";
  /** Seconds of a 440 Hz tone. */
  audioSeconds?: number;
  /** H.264 by default. */
  codec?: { encoder: FFVideoEncoder; pixels: string };
  /** FFmpeg's filters of the frames before they are encoded. */
  filters?: string;
  /** FFmpeg's options of the encoder. */
  encoderOptions?: Record<string, string>;
  /** FFmpeg's options of the container, such as `movflags`. */
  options?: Record<string, string>;
}

Log.setLevel(AV_LOG_QUIET);

const H264 = { encoder: FF_ENCODER_LIBX264, pixels: "yuv420p" } as const;
const BITS = 8;
const RATE = 48_000;

/** Returns the times of `count` frames at `fps`. */
export function atRate(fps: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => (index * 1_000) / fps);
}

/**
 * Makes H.264 whose frames encode their number in black and white stripes: see `readFrameNumber`.
 */
export async function makeVideo(file: VideoFile): Promise<Buffer<ArrayBuffer>> {
  const { width = 160, height = 96, times, keyframeEvery = 25, container = "mp4" } = file;
  const path = join(tmpdir(), `${randomUUID()}.bin`);
  {
    const { options = {} } = file;
    await using muxer = await Muxer.open(path, { format: container, options });
    const { encoder, pixels } = file.codec ?? H264;
    const filters = file.filters ? `${file.filters},` : "";
    using filter = FilterAPI.create(`${filters}format=${pixels}`);
    using video = await Encoder.create(encoder, {
      gopSize: keyframeEvery,
      // AVI has no presentation times, so frames must be in decoding order.
      ...(container === "avi" && { maxBFrames: 0 }),
      configure: (context) => {
        context.framerate = new Rational(25, 1);
      },
      options: { ...(!file.codec && { preset: "veryfast", crf: 20 }), ...file.encoderOptions },
    });
    using audio = await Encoder.create(FF_ENCODER_AAC, { bitrate: 64_000 });
    const videoIndex = muxer.addStream(video);
    const audioIndex = file.audioSeconds ? muxer.addStream(audio) : -1;
    const tracks = [
      {
        encoder: video,
        index: videoIndex,
        frames: filter.frames(listFrames(width, height, times)),
      },
    ];
    if (file.audioSeconds) {
      tracks.push({ encoder: audio, index: audioIndex, frames: listTone(file.audioSeconds) });
    }
    const encoded: { packet: Packet; index: number }[] = [];
    for (const { encoder, index, frames } of tracks) {
      for await (const packet of encoder.packets(frames))
        if (packet) encoded.push({ packet, index });
    }
    for (const { packet, index } of encoded.toSorted((a, b) => toSeconds(a) - toSeconds(b))) {
      await muxer.writePacket(packet, index);
      packet.free();
    }
  }
  const bytes = await readFile(path);
  await rm(path);
  return Buffer.from(bytes);
}

/** Rotates an MP4 by writing the display matrix of its first track. */
export function rotateVideo(
  mp4: Buffer<ArrayBuffer>,
  degrees: 90 | 180 | 270,
): Buffer<ArrayBuffer> {
  const rotated = Buffer.from(mp4);
  const [a, b] = { 90: [0, 1], 180: [-1, 0], 270: [0, -1] }[degrees] as [number, number];
  const matrix = rotated.indexOf("tkhd") + 44;
  for (const [index, value] of [a, b, 0, -b, a].entries()) {
    rotated.writeInt32BE(value * 0x10000, matrix + index * 4);
  }
  return rotated;
}

/** Decodes the frame number from the stripes of an image. */
export async function readFrameNumber(image: Buffer): Promise<number> {
  const { data } = await sharp(image)
    .greyscale()
    .resize(BITS * 8, 8, { fit: "fill" })
    .raw()
    .toBuffer({ resolveWithObject: true });
  let number = 0;
  for (let bit = 0; bit < BITS; bit++) {
    if ((data[4 * BITS * 8 + bit * 8 + 4] ?? 0) > 128) number |= 1 << bit;
  }
  return number;
}

function toSeconds({ packet }: { packet: Packet }): number {
  return (Number(packet.dts) * packet.timeBase.num) / packet.timeBase.den;
}

async function* listFrames(width: number, height: number, times: readonly number[]) {
  for (const [index, time] of times.entries()) {
    const buffer = Buffer.alloc((width * height * 3) / 2, 128);
    for (let at = 0; at < width * height; at++) {
      const bit = Math.floor(((at % width) * BITS) / width);
      buffer[at] = (index >> bit) & 1 ? 235 : 16;
    }
    const frame = Frame.fromVideoBuffer(buffer, {
      width,
      height,
      format: AV_PIX_FMT_YUV420P,
      timeBase: { num: 1, den: 90_000 },
      pts: BigInt(Math.round(time * 90)),
    });
    const next = times[index + 1] ?? time + 40;
    frame.duration = BigInt(Math.round((next - time) * 90));
    yield frame;
  }
  yield null;
}

async function* listTone(seconds: number) {
  const size = 1_024;
  for (let start = 0; start < seconds * RATE; start += size) {
    const samples = Float32Array.from(
      { length: size },
      (_, at) => Math.sin(((start + at) * 2 * Math.PI * 440) / RATE) / 2,
    );
    yield Frame.fromAudioBuffer(Buffer.from(samples.buffer), {
      nbSamples: size,
      format: AV_SAMPLE_FMT_FLTP,
      sampleRate: RATE,
      channelLayout: { nbChannels: 1, order: AV_CHANNEL_ORDER_NATIVE, mask: 4n },
      timeBase: { num: 1, den: RATE },
      pts: BigInt(start),
    });
  }
  yield null;
}
