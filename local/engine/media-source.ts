import {
  AV_DISPOSITION_ATTACHED_PIC,
  AV_LOG_QUIET,
  AV_NOPTS_VALUE,
  AV_TIME_BASE,
  AVMEDIA_TYPE_AUDIO,
  AVMEDIA_TYPE_VIDEO,
  type AVMediaType,
} from "node-av/constants";
import { Dictionary, FormatContext, getFFmpegInfo, Log, type Stream } from "node-av/lib";
import { EngineError } from "./errors.ts";
import { CODECS } from "./media-codecs.ts";
import { requireBackedSamples } from "./mp4-counts.ts";
import type { ByteRange } from "./recordings.ts";

Log.setLevel(AV_LOG_QUIET);

// bounded: the version of a library
export const MEDIA_MODEL = `ffmpeg-${getFFmpegInfo().version.replace(/[^\d.].*$/, "")}`;

/** Allowed containers. Playlists are excluded, because they reference other files. */
const CONTAINERS =
  "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,flv,asf,ogg,mxf,mp3,aac,wav,w64,flac," +
  "aiff,ac3,eac3,amr,ape,caf,dsf,mpc,mpc8,voc,wv,h264,hevc,m4v,mpegvideo,ivf,obu,dv,rm";
/** MP4 brands of still images: AVIF and HEIF. */
const IMAGE_BRANDS = new Set(["avif", "heic", "heix", "mif1"]);
const MAX_STREAMS = 64;
const MAX_VIDEO_PIXELS = 8_192 * 8_192;
/** Bounds of FFmpeg's decoders. */
export const DECODER_BOUNDS = {
  max_pixels: withBorder(MAX_VIDEO_PIXELS),
  codec_whitelist: CODECS,
} as const;

/** An open media file. */
export interface MediaSource {
  context: FormatContext;
  /** FFmpeg's name of the container, such as `mov,mp4,m4a,3gp,3g2,mj2`. */
  container: string;
  video: Stream | null;
  audio: Stream | null;
  /** Start of the video (without one, of the audio) in the container: the zero of `time`. */
  originSeconds: number;
  /** From the origin to the end; null if the container lacks it. */
  durationSeconds: number | null;
  close(): Promise<void>;
}

/**
 * Opens a file on disk, or a range of its bytes, to be closed by the caller. Errors:
 * `undecodable_media`.
 */
export async function openMedia(path: string, range?: ByteRange | null): Promise<MediaSource> {
  requireBackedSamples(path);
  const context = new FormatContext();
  const { codec_whitelist } = DECODER_BOUNDS;
  const options = {
    protocol_whitelist: "file,subfile",
    format_whitelist: CONTAINERS,
    codec_whitelist,
  };
  using settings = Dictionary.fromObject({ ...options, max_streams: String(MAX_STREAMS) });
  const part = range && `subfile,,start,${range.start},end,${range.end},,:${path}`;
  const opened = await context.openInput(part ?? path, null, settings);
  if (opened < 0)
    throw new EngineError("undecodable_media", "The file is in no supported media format.");
  const close = () => context.closeInput();
  try {
    const code = await context.findStreamInfo();
    if (IMAGE_BRANDS.has(context.metadata?.get("major_brand") ?? "")) {
      throw new EngineError("undecodable_media", "The file is a still image.");
    }
    const video = findStream(context, AVMEDIA_TYPE_VIDEO);
    const audio = findStream(context, AVMEDIA_TYPE_AUDIO);
    const main = video ?? audio;
    if (code < 0 || !main)
      throw new EngineError("undecodable_media", "The file has no video or audio.");
    const { startTime } = main;
    const originSeconds = startTime === AV_NOPTS_VALUE ? 0 : toSeconds(startTime, main);
    const container = context.iformat?.name ?? "unknown";
    const durationSeconds = getDuration(context, originSeconds);
    return { context, container, video, audio, originSeconds, durationSeconds, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Returns FFmpeg's option `max_pixels` that lets images of so many pixels pass: it counts a border
 * of 128 pixels, and some decoders keep the memory of what it refuses.
 */
export function withBorder(pixels: number): string {
  const longest = 65_535;
  return String(pixels + 128 * (longest + Math.ceil(pixels / longest) + 128));
}

/** Converts a time from the stream's time base to seconds. */
export function toSeconds(time: bigint, stream: Stream): number {
  return (Number(time) * stream.timeBase.num) / stream.timeBase.den;
}

/** Returns the best decodable stream of a kind; cover art is not a video. */
function findStream(context: FormatContext, kind: AVMediaType): Stream | null {
  const stream = context.streams[context.findBestStream(kind)];
  if (!stream || stream.disposition & AV_DISPOSITION_ATTACHED_PIC) return null;
  if (kind === AVMEDIA_TYPE_AUDIO) return stream.codecpar.channels > 0 ? stream : null;
  const { width, height } = stream.codecpar;
  return width > 0 && height > 0 && width * height <= MAX_VIDEO_PIXELS ? stream : null;
}

function getDuration(context: FormatContext, originSeconds: number): number | null {
  if (context.duration === AV_NOPTS_VALUE || context.duration <= 0n) return null;
  const start = context.startTime === AV_NOPTS_VALUE ? 0n : context.startTime;
  const end = Number(start + context.duration) / AV_TIME_BASE;
  return Math.max(0, end - originSeconds);
}
