import { Encoder } from "node-av/api";
import { AV_CODEC_FLAG_GLOBAL_HEADER, FF_ENCODER_AAC, FF_ENCODER_LIBX264 } from "node-av/constants";
import { type Frame, type IRational, Rational } from "node-av/lib";
import { EngineError } from "./errors.ts";
import { type EncodedTrack, writeMediaFile } from "./media-file.ts";
import { openMedia } from "./media-source.ts";
import { readAudioTrack, readVideoTrack, type TimeRange, type Track } from "./media-track.ts";

const DEFAULT_RATE = { num: 25, den: 1 };
const MAX_RATE = 240;

export interface AudioRequest {
  /** Seconds from the start of the video, or of the audio if there is no video. */
  time: number;
  /** Seconds; the output is shorter if the file ends before. */
  duration: number;
}

export interface ClipRequest extends AudioRequest {
  /** Pixels; null keeps the size. */
  width: number | null;
  audio: boolean;
}

/**
 * Writes H.264 and AAC in MP4, with the index in front, to `target`. Missing or undecodable audio
 * is left out. Errors: `undecodable_media`, `no_video`, `time_out_of_range`.
 */
export async function writeClip(path: string, target: string, request: ClipRequest): Promise<void> {
  const { range, hasVideo, hasAudio, rate } = await findRange(path, request);
  if (!hasVideo) throw new EngineError("no_video", "The file has no video.");
  const tracks = [readVideoTrack(path, range, request.width)];
  if (request.audio && hasAudio) tracks.push(readAudioTrack(path, range));
  await writeTracks(target, "mp4", tracks, rate);
}

/** Writes AAC in M4A to `target`. Errors: `undecodable_media`, `no_audio`, `time_out_of_range`. */
export async function writeAudio(
  path: string,
  target: string,
  request: AudioRequest,
): Promise<void> {
  const { range, hasAudio } = await findRange(path, request);
  if (!hasAudio) throw new EngineError("no_audio", "The file has no audio.");
  await writeTracks(target, "ipod", [readAudioTrack(path, range)]);
}

async function findRange(path: string, { time, duration }: AudioRequest) {
  const source = await openMedia(path);
  const { durationSeconds, video, audio } = source;
  const { num, den } = video?.avgFrameRate ?? DEFAULT_RATE;
  const rate = num >= den && num <= den * MAX_RATE && den > 0 ? { num, den } : DEFAULT_RATE;
  await source.close();
  if (durationSeconds !== null && time > 0 && time >= durationSeconds) {
    const end = durationSeconds.toFixed(3);
    throw new EngineError("time_out_of_range", `The file ends at ${end} seconds.`);
  }
  const range: TimeRange = { start: time, end: time + duration };
  return { range, hasVideo: video !== null, hasAudio: audio !== null, rate };
}

async function writeTracks(
  target: string,
  format: "mp4" | "ipod",
  tracks: readonly Track[],
  rate: IRational = DEFAULT_RATE,
): Promise<void> {
  const encoded: EncodedTrack[] = [];
  try {
    for (const { first, rest } of await startTracks(tracks)) {
      const encoder = await createEncoder(first, rate);
      encoder.setCodecFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
      encoded.push({ encoder, packets: encoder.packets(prepend(first, rest)) });
    }
    await writeMediaFile(target, format, encoded);
  } finally {
    for (const { packets } of encoded) await packets.return();
    for (const track of tracks) await track.return();
    for (const { encoder } of encoded) encoder.close();
  }
}

/** Returns the tracks that have frames. Errors: `undecodable_media` if the first one has none. */
async function startTracks(tracks: readonly Track[]): Promise<{ first: Frame; rest: Track }[]> {
  const started: { first: Frame; rest: Track }[] = [];
  for (const [index, rest] of tracks.entries()) {
    const first = await rest.next();
    if (!first.done && first.value) started.push({ first: first.value, rest });
    else if (index === 0)
      throw new EngineError("undecodable_media", "No frame in this range can be decoded.");
  }
  return started;
}

async function* prepend(first: Frame, rest: Track): Track {
  yield first;
  yield* rest;
}

/** Creates an encoder. The rate determines level and quality; frames keep their timestamps. */
function createEncoder(first: Frame, rate: IRational): Promise<Encoder> {
  if (first.isAudio()) return Encoder.create(FF_ENCODER_AAC, { bitrate: 64_000 * first.channels });
  return Encoder.create(FF_ENCODER_LIBX264, {
    threadCount: 2,
    options: { preset: "veryfast", crf: 23 },
    configure: (context) => {
      context.framerate = new Rational(rate.num, rate.den);
    },
  });
}
