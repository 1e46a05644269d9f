import { Encoder, FilterAPI } from "node-av/api";
import {
  AV_CHANNEL_ORDER_NATIVE,
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_SAMPLE_FMT_FLTP,
  FF_ENCODER_AAC,
  FF_ENCODER_LIBX264,
} from "node-av/constants";
import { Frame, type Packet, Rational } from "node-av/lib";
import { EngineError } from "./errors.ts";
import { type EncodedTrack, writeMediaFile } from "./media-file.ts";
import { toCopyFilters } from "./media-image.ts";
import { MediaReader } from "./media-reader.ts";
import { type MediaSource, openMedia } from "./media-source.ts";
import {
  filterByDuration,
  listAudioFrames,
  listPresentedFrames,
  type Track,
} from "./media-track.ts";
import { PresentedFrames } from "./presented-frames.ts";
import type { ByteRange } from "./recordings.ts";

/** Size in even pixels, upright. `fps` determines the encoder's level; frames keep their times. */
interface FrameFormat {
  width: number;
  height: number;
  fps: number;
}

/** A piece of a file's presentation, to be joined with its other parts without decoding. */
export interface PartRequest {
  /** The recording of the file, null if the file has one. */
  bytes: ByteRange | null;
  /** Time in its container that is the zero of the presentation. */
  originSeconds: number;
  /** Milliseconds of the presentation. */
  startMs: number;
  endMs: number;
  /** Null for sound without pictures. */
  frameFormat: FrameFormat | null;
  audio: boolean;
}

/** Sample rate of all parts: their audio frames lie on one grid of `AAC_FRAME` samples. */
const RATE = 48_000;
const AAC_FRAME = 1_024;
/** AAC frames that are encoded before the piece and left out: each depends on the one before. */
const LEAD_FRAMES = 3;
/** Seconds that are decoded before: the first packets after a seek decode incompletely. */
const AUDIO_LEAD_SECONDS = 0.25;
const MAX_RATE = 240;
/** Bounds the bytes of a piece: 60 s have at most 30 MB. */
const VIDEO_OPTIONS = {
  preset: "veryfast",
  crf: 23,
  maxrate: 4_000_000,
  bufsize: 8_000_000,
  bf: 0,
  g: 100,
} as const;

/**
 * Writes a piece as H.264 and AAC in MP4 to `target`. Its frames are in order of presentation, and
 * the first one is on screen at its start. Its audio is that of the frames of 1,024 samples, at 48
 * kHz from the zero of the presentation, that begin in the piece; where there is none, silence.
 * Errors: `undecodable_media`.
 */
export async function writePart(path: string, target: string, request: PartRequest): Promise<void> {
  const tracks: EncodedTrack[] = [];
  try {
    if (request.frameFormat) tracks.push(await encodeVideo(path, request, request.frameFormat));
    if (request.audio) tracks.push(await encodeAudio(path, request));
    await writeMediaFile(target, "mp4", tracks);
  } finally {
    for (const { packets } of tracks) await packets.return();
    for (const { encoder } of tracks) encoder.close();
  }
}

async function encodeVideo(
  path: string,
  request: PartRequest,
  frameFormat: FrameFormat,
): Promise<EncodedTrack> {
  const frames = readVideo(path, request, frameFormat);
  const first = await frames.next();
  if (first.done || !first.value) {
    throw new EngineError("undecodable_media", "No frame in this range can be decoded.");
  }
  const encoder = await Encoder.create(FF_ENCODER_LIBX264, {
    threadCount: 2,
    options: VIDEO_OPTIONS,
    configure: (context) => {
      context.framerate = new Rational(
        Math.round(Math.min(frameFormat.fps, MAX_RATE) * 1000),
        1000,
      );
    },
  });
  return track(encoder, prepend(first.value, frames));
}

async function encodeAudio(path: string, request: PartRequest): Promise<EncodedTrack> {
  const encoder = await Encoder.create(FF_ENCODER_AAC, { bitrate: 128_000 });
  const { packets, ...rest } = track(encoder, readAudio(path, request));
  return { ...rest, packets: selectFrames(packets, countAudioFrames(request)) };
}

function track(encoder: Encoder, frames: Track): EncodedTrack {
  encoder.setCodecFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
  return { encoder, packets: encoder.packets(frames) };
}

async function* prepend(first: Frame, rest: Track): Track {
  yield first;
  yield* rest;
}

async function* readVideo(path: string, request: PartRequest, frameFormat: FrameFormat): Track {
  const source = await openRecording(path, request);
  try {
    if (!source.video) throw new EngineError("no_video", "The file has no video.");
    using filter = FilterAPI.create(toCopyFilters(source.video, frameFormat));
    const reader = await MediaReader.open(source, source.video);
    const frames = new PresentedFrames(reader);
    const range = { start: request.startMs / 1000, end: request.endMs / 1000 };
    try {
      yield* filterByDuration(filter, listPresentedFrames(frames, range));
    } finally {
      frames.close();
      reader.close();
    }
  } finally {
    await source.close();
  }
}

/** Returns the audio frames that begin in a piece: the first one and the one after the last. */
function audioFrameRange({ startMs, endMs }: PartRequest): { from: number; to: number } {
  const frameAt = (ms: number) => Math.ceil((ms * RATE) / 1000 / AAC_FRAME);
  return { from: frameAt(startMs), to: frameAt(endMs) };
}

function countAudioFrames(request: PartRequest): number {
  const { from, to } = audioFrameRange(request);
  return to - from;
}

/** Yields the audio of a piece with the frames before it, and one after. */
async function* readAudio(path: string, request: PartRequest): Track {
  const source = await openRecording(path, request);
  try {
    const { from, to } = audioFrameRange(request);
    const start = ((from - LEAD_FRAMES) * AAC_FRAME) / RATE;
    const samples = (to - from + LEAD_FRAMES + 1) * AAC_FRAME;
    // All recordings of a file are joined in one layout.
    const isMono = !request.bytes && source.audio?.codecpar.channels === 1;
    const layout = isMono ? "mono" : "stereo";
    using filter = FilterAPI.create(
      `atrim=start=0,aresample=${RATE}:async=1000:first_pts=0,` +
        `aformat=sample_fmts=fltp:channel_layouts=${layout}:sample_rates=${RATE},` +
        `apad=whole_len=${samples},atrim=end_sample=${samples},asetnsamples=${AAC_FRAME}`,
    );
    const reader = source.audio && (await MediaReader.open(source, source.audio));
    try {
      if (reader && start > AUDIO_LEAD_SECONDS) await reader.seek(start - AUDIO_LEAD_SECONDS);
      const range = { start, end: start + samples / RATE };
      yield* filter.frames(orSilence(reader && listAudioFrames(reader, range)));
    } finally {
      reader?.close();
    }
  } finally {
    await source.close();
  }
}

/** Yields a frame of silence if there is no other: a filter begins with its first frame. */
async function* orSilence(frames: Track | null): Track {
  let isEmpty = true;
  for await (const frame of frames ?? [null]) {
    if (frame) isEmpty = false;
    else if (isEmpty) yield createSilence();
    yield frame;
  }
}

function createSilence(): Frame {
  return Frame.fromAudioBuffer(Buffer.alloc(AAC_FRAME * 4), {
    nbSamples: AAC_FRAME,
    format: AV_SAMPLE_FMT_FLTP,
    sampleRate: RATE,
    channelLayout: { nbChannels: 1, order: AV_CHANNEL_ORDER_NATIVE, mask: 4n },
    timeBase: { num: 1, den: RATE },
    pts: 0n,
  });
}

/** Yields `count` packets after those before the piece, timed from the first one. */
async function* selectFrames(
  packets: AsyncGenerator<Packet | null, void>,
  count: number,
): AsyncGenerator<Packet | null, void> {
  const lead = BigInt(LEAD_FRAMES * AAC_FRAME);
  let selected = 0;
  for await (const packet of packets) {
    if (!packet) break;
    if (packet.pts < lead || selected === count) {
      packet.free();
      continue;
    }
    packet.pts -= lead;
    packet.dts -= lead;
    selected++;
    yield packet;
  }
  if (selected !== count) throw new Error(`The encoder gave ${selected} of ${count} frames.`);
  yield null;
}

async function openRecording(
  path: string,
  { bytes, originSeconds }: PartRequest,
): Promise<MediaSource> {
  return { ...(await openMedia(path, bytes)), originSeconds };
}
