import { readFile, writeFile } from "node:fs/promises";
import { Encoder, FilterAPI, Frame, Log, Muxer, type Packet, Rational } from "node-av";
import * as av from "node-av/constants";
import { drawFrames, type Scene } from "../tools/sample/video-frames.ts";

/** A container with codecs, as cameras and programs have written them. */
export interface FormatKind {
  name: string;
  /** File extension, from which the container follows. */
  extension: string;
  video: av.FFVideoEncoder;
  pixels?: string;
  videoOptions?: Record<string, string>;
  /** Null for a film without sound. */
  audio: AudioKind | null;
  /** Size as it is shown. */
  size?: { width: number; height: number };
  /** Whether the frames are stored turned, with a matrix that turns them back, as phones do. */
  turned?: boolean;
}

interface AudioKind {
  codec: av.FFAudioEncoder;
  /** Format and rate of its samples. */
  samples: string;
  rate?: number;
  /** Samples of a frame, if the encoder doesn't say how many it takes. */
  frame?: number;
}

export const FPS = 25;
const SPEECH_RATE = 16_000;
export const SIZE = { width: 640, height: 360 };
const UPRIGHT = { width: 360, height: 640 };
const BLOCK = 1024;

export const AAC: AudioKind = { codec: av.FF_ENCODER_AAC, samples: "fltp" };
export const MP3: AudioKind = { codec: av.FF_ENCODER_LIBMP3LAME, samples: "fltp" };
export const MP2 = { codec: av.FF_ENCODER_MP2, samples: "s16" };
const AC3 = { codec: av.FF_ENCODER_AC3, samples: "fltp" };
const PCM = { codec: av.FF_ENCODER_PCM_S16LE, samples: "s16" };
const OPUS = { codec: av.FF_ENCODER_LIBOPUS, samples: "flt" };
const VORBIS = { codec: av.FF_ENCODER_LIBVORBIS, samples: "fltp", frame: 64 };
const FLAC = { codec: av.FF_ENCODER_FLAC, samples: "s16" };
const ALAC = { codec: av.FF_ENCODER_ALAC, samples: "s16p" };
const WMA1 = { codec: av.FF_ENCODER_WMAV1, samples: "fltp", rate: 44_100 };
const WMA2 = { codec: av.FF_ENCODER_WMAV2, samples: "fltp", rate: 44_100 };
const FAST = { preset: "veryfast" };
const REALTIME = { "cpu-used": "8", deadline: "realtime" };
const PAL = { width: 720, height: 576 };
const CIF = { width: 352, height: 288 };

function kind(
  name: string,
  extension: string,
  video: av.FFVideoEncoder,
  audio: AudioKind | null,
  more: Partial<FormatKind> = {},
): FormatKind {
  return { name, extension, video, audio, ...more };
}

export const FORMAT_KINDS: readonly FormatKind[] = [
  kind("AVI, MPEG-4, MP3", "avi", av.FF_ENCODER_MPEG4, MP3),
  kind("AVI, MPEG-4, no sound", "avi", av.FF_ENCODER_MPEG4, null),
  kind("AVI, MS-MPEG-4, MP3", "avi", av.FF_ENCODER_MSMPEG4V2, MP3),
  kind("AVI, MJPEG, PCM", "avi", av.FF_ENCODER_MJPEG, PCM, { pixels: "yuvj420p" }),
  kind("AVI, HuffYUV, PCM", "avi", av.FF_ENCODER_HUFFYUV, PCM, { pixels: "yuv422p" }),
  kind("AVI, Cinepak, PCM", "avi", av.FF_ENCODER_CINEPAK, PCM, { pixels: "rgb24", size: CIF }),
  kind("AVI, DV, PCM", "avi", av.FF_ENCODER_DVVIDEO, PCM, { size: PAL }),
  kind("AVI, FFV1, PCM", "avi", av.FF_ENCODER_FFV1, PCM),
  kind("AVI, H.264, MP3", "avi", av.FF_ENCODER_LIBX264, MP3, { videoOptions: FAST }),
  kind("AVI, uncompressed, PCM", "avi", av.FF_ENCODER_RAWVIDEO, PCM, { size: CIF }),
  kind("MPEG-PS, MPEG-1, MP2", "mpg", av.FF_ENCODER_MPEG1VIDEO, MP2),
  kind("MPEG-PS, MPEG-2, MP2", "mpg", av.FF_ENCODER_MPEG2VIDEO, MP2),
  kind("VOB, MPEG-2, AC-3", "vob", av.FF_ENCODER_MPEG2VIDEO, AC3, { size: PAL }),
  kind("MPEG-TS, MPEG-2, MP2", "ts", av.FF_ENCODER_MPEG2VIDEO, MP2),
  kind("MPEG-TS, H.264, AAC", "ts", av.FF_ENCODER_LIBX264, AAC, { videoOptions: FAST }),
  kind("MPEG-TS, HEVC, AAC", "ts", av.FF_ENCODER_LIBX265, AAC, { videoOptions: FAST }),
  kind("WMV 8, WMA 2", "wmv", av.FF_ENCODER_WMV2, WMA2),
  kind("WMV 7, WMA 1", "wmv", av.FF_ENCODER_WMV1, WMA1),
  kind("ASF, MS-MPEG-4, MP3", "asf", av.FF_ENCODER_MSMPEG4V2, MP3),
  kind("FLV, Sorenson, MP3", "flv", av.FF_ENCODER_FLV, { ...MP3, rate: 44_100 }),
  kind("FLV, H.264, AAC", "flv", av.FF_ENCODER_LIBX264, AAC, { videoOptions: FAST }),
  kind("MXF, MPEG-2, PCM", "mxf", av.FF_ENCODER_MPEG2VIDEO, PCM),
  kind("Ogg, Theora, Vorbis", "ogv", av.FF_ENCODER_LIBTHEORA, VORBIS),
  kind("Matroska, H.264, AAC", "mkv", av.FF_ENCODER_LIBX264, AAC, { videoOptions: FAST }),
  kind("Matroska, MPEG-2, AC-3", "mkv", av.FF_ENCODER_MPEG2VIDEO, AC3),
  kind("Matroska, Theora, Vorbis", "mkv", av.FF_ENCODER_LIBTHEORA, VORBIS),
  kind("Matroska, MPEG-4, MP3", "mkv", av.FF_ENCODER_MPEG4, MP3),
  kind("Matroska, WMV 8, PCM", "mkv", av.FF_ENCODER_WMV2, PCM),
  kind("Matroska, FFV1, FLAC", "mkv", av.FF_ENCODER_FFV1, FLAC),
  kind("Matroska, HEVC, Opus", "mkv", av.FF_ENCODER_LIBX265, OPUS, { videoOptions: FAST }),
  kind("WebM, VP8, Vorbis", "webm", av.FF_ENCODER_LIBVPX_VP8, VORBIS, { videoOptions: REALTIME }),
  kind("WebM, VP9, Opus", "webm", av.FF_ENCODER_LIBVPX_VP9, OPUS, { videoOptions: REALTIME }),
  kind("WebM, AV1, Opus", "webm", av.FF_ENCODER_LIBSVTAV1, OPUS, {
    videoOptions: { preset: "12" },
  }),
  kind("MP4, H.264, AAC", "mp4", av.FF_ENCODER_LIBX264, AAC, { videoOptions: FAST }),
  kind("MP4, HEVC, AAC", "mp4", av.FF_ENCODER_LIBX265, AAC, { videoOptions: FAST }),
  kind("MP4, AV1, AAC", "mp4", av.FF_ENCODER_LIBSVTAV1, AAC, { videoOptions: { preset: "12" } }),
  kind("MP4, MPEG-4, AAC", "mp4", av.FF_ENCODER_MPEG4, AAC),
  kind("MP4, H.264, AC-3", "mp4", av.FF_ENCODER_LIBX264, AC3, { videoOptions: FAST }),
  kind("MOV, H.264, ALAC", "mov", av.FF_ENCODER_LIBX264, ALAC, { videoOptions: FAST }),
  kind("MOV, ProRes, PCM", "mov", av.FF_ENCODER_PRORES_KS, PCM, { pixels: "yuv422p10le" }),
  kind("MOV, MJPEG, PCM", "mov", av.FF_ENCODER_MJPEG, PCM, { pixels: "yuvj420p" }),
  kind("MOV, Sorenson 1, PCM", "mov", av.FF_ENCODER_SVQ1, PCM, { pixels: "yuv410p" }),
  kind("MOV, DV, PCM", "mov", av.FF_ENCODER_DVVIDEO, PCM, { size: PAL }),
  kind("3GP, H.263, AAC", "3gp", av.FF_ENCODER_H263, AAC, { size: CIF }),
  kind("MP4, H.264 of 10 bits, AAC", "mp4", av.FF_ENCODER_LIBX264, AAC, {
    pixels: "yuv420p10le",
    videoOptions: FAST,
  }),
  kind("MP4, H.264, AAC, turned", "mp4", av.FF_ENCODER_LIBX264, AAC, {
    videoOptions: FAST,
    size: UPRIGHT,
    turned: true,
  }),
  kind("MOV, HEVC, AAC, turned", "mov", av.FF_ENCODER_LIBX265, AAC, {
    videoOptions: FAST,
    size: UPRIGHT,
    turned: true,
  }),
  kind("MP4, MPEG-4, AAC, turned", "mp4", av.FF_ENCODER_MPEG4, AAC, {
    size: UPRIGHT,
    turned: true,
  }),
];

/** Extensions of sound without pictures that `encodeAudio` writes. */
export const AUDIO_EXTENSIONS = ["mp3", "m4a", "wav", "flac", "ogg", "opus", "aiff", "ac3", "wma"];

/** Writes a film of a kind. `voice` has mono samples at 16 kHz. */
export async function writeKind(
  path: string,
  { video, audio, pixels = "yuv420p", videoOptions, size = SIZE, turned }: FormatKind,
  scenes: Scene[],
  voice: Float32Array,
): Promise<void> {
  Log.setLevel(av.AV_LOG_QUIET);
  const seconds = scenes.reduce((sum, scene) => sum + scene.seconds, 0);
  const muxer = await Muxer.open(path);
  using videoFilter = FilterAPI.create(`${turned ? "transpose=cclock," : ""}format=${pixels}`);
  using videoEncoder = await Encoder.create(video, {
    context: {
      gopSize: FPS,
      threadCount: 2,
      framerate: new Rational(FPS, 1),
      bitRate: "3M",
    },
    ...(videoOptions && { options: videoOptions }),
  });
  const packets: { packet: Packet; stream: number }[] = [];
  const encode = async (encoder: Encoder, frames: AsyncIterable<Frame | null>) => {
    const stream = muxer.addStream(encoder);
    for await (const packet of encoder.packets(frames))
      if (packet) packets.push({ packet, stream });
  };
  await encode(videoEncoder, videoFilter.frames(listFrames(scenes, size)));
  const { codec, samples, rate = 48_000, frame } = audio ?? AAC;
  using audioFilter = FilterAPI.create(
    `aformat=sample_fmts=${samples}:channel_layouts=mono:sample_rates=${rate}` +
      (frame === undefined ? "" : `,asetnsamples=${frame}`),
  );
  using audioEncoder = await Encoder.create(codec, { context: { bitRate: "96k" } });
  if (audio) await encode(audioEncoder, audioFilter.frames(listSamples(voice, seconds)));
  for (const { packet, stream } of packets.toSorted((a, b) => toSeconds(a) - toSeconds(b))) {
    await muxer.writePacket(packet, stream);
    packet.free();
  }
  await muxer.close();
  if (turned) await turnBack(path, size.width);
}

/** Offset of the matrix in a box `tkhd` of version 0 (ISO/IEC 14496-12, 8.3.2). */
const MATRIX_OFFSET = 44;

/** Turns the first track of an MP4 clockwise by a quarter. `width` is that of the turned frame. */
async function turnBack(path: string, width: number): Promise<void> {
  const bytes = await readFile(path);
  const at = bytes.indexOf("tkhd", 0, "latin1") + MATRIX_OFFSET;
  const matrix = [0, 1, 0, -1, 0, 0, width, 0];
  for (const [i, value] of matrix.entries()) bytes.writeInt32BE(value * 65_536, at + i * 4);
  await writeFile(path, bytes);
}

function toSeconds({ packet }: { packet: Packet }): number {
  return (Number(packet.dts) * packet.timeBase.num) / packet.timeBase.den;
}

async function* listFrames(scenes: Scene[], size: { width: number; height: number }) {
  let pts = 0n;
  for await (const pixels of drawFrames(scenes, { ...size, fps: FPS })) {
    yield Frame.fromVideoBuffer(pixels, {
      ...size,
      format: av.AV_PIX_FMT_RGB24,
      pts: pts++,
      timeBase: { num: 1, den: FPS },
    });
  }
  yield null;
}

async function* listSamples(voice: Float32Array, seconds: number) {
  for (let at = 0; at < seconds * SPEECH_RATE; at += BLOCK) {
    const length = Math.min(BLOCK, seconds * SPEECH_RATE - at);
    const samples = Float32Array.from({ length }, (_, i) => voice[at + i] ?? 0);
    yield Frame.fromAudioBuffer(Buffer.from(samples.buffer), {
      nbSamples: length,
      format: av.AV_SAMPLE_FMT_FLTP,
      sampleRate: SPEECH_RATE,
      channelLayout: av.AV_CHANNEL_LAYOUT_MONO,
      pts: BigInt(at),
      timeBase: { num: 1, den: SPEECH_RATE },
    });
  }
  yield null;
}
