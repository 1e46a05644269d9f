import {
  type InputAudioTrack,
  type InputTrack,
  type InputVideoTrack,
  EncodedPacketSink,
  type Input,
} from "mediabunny";
import { AppError } from "../../errors.ts";
import { remember } from "../../isolate-memory.ts";
import { LruCache } from "../../lru-cache.ts";
import type { TimeRange } from "../../time-range.ts";
import { readPromisedBytes } from "./matroska.ts";
import { hasSamples, isMediaTrack, requireBackedTables } from "./moov-slice.ts";
import {
  readEdit,
  findBox,
  findMoov,
  type RangedFile,
  readContent,
  readHandler,
  readTimescale,
  topLevelBoxes,
} from "./mp4-boxes.ts";
import { openInput } from "./open-input.ts";
import type { StoredFile } from "./r2-file.ts";

/** What a file has of a track. Times are those of the stream, in seconds. */
export interface TrackExtent {
  first: number;
  end: number;
  /** What the edit list presents, null for all of the stream. */
  edit: TimeRange | null;
}

/** When the tracks of a file are presented. Zero is the first moment that a player shows. */
export interface Presentation {
  /** Time of the stream that is zero. */
  origin: number;
  video: TimeRange | null;
  audio: TimeRange | null;
  /** End of the last track. */
  durationSeconds: number;
}

/**
 * Audio that begins or ends this much outside of the picture is what encoders add to fill whole
 * frames. It isn't presented.
 */
const PADDING_SECONDS = 0.1;
/** Less than the duration of any frame: how far the last moment of a track is before its end. */
const INSTANT_SECONDS = 1e-4;
/** Rounding errors of sums of fractions. */
const ROUNDING_SECONDS = 1e-6;

/** Places the tracks of a file, which have one clock, on one timeline. */
export function presentTracks(
  pictures: TrackExtent | null,
  sound: TrackExtent | null,
): Presentation {
  const [shown, heard] = [presentedRange(pictures), presentedRange(sound)];
  const isSoundFirst = heard && !(shown && heard.start >= shown.start - PADDING_SECONDS);
  const origin = (isSoundFirst ? heard : shown)?.start ?? 0;
  const place = (range: TimeRange | null) =>
    range && range.end > origin
      ? { start: Math.max(0, range.start - origin), end: range.end - origin }
      : null;
  const [video, audio] = [place(shown), place(heard)];
  const [videoEnd, audioEnd] = [video?.end ?? 0, audio?.end ?? 0];
  const isPadding = videoEnd > 0 && audioEnd - videoEnd < PADDING_SECONDS;
  const durationSeconds = isPadding ? videoEnd : Math.max(videoEnd, audioEnd);
  if (audio) audio.end = Math.min(audioEnd, durationSeconds);
  return { origin, video, audio, durationSeconds };
}

/** Returns what a player shows of a track: all of it where its edit list shows nothing. */
function presentedRange(extent: TrackExtent | null): TimeRange | null {
  if (!extent || extent.end <= extent.first) return null;
  const { first, end, edit } = extent;
  const edited = edit && { start: Math.max(first, edit.start), end: Math.min(end, edit.end) };
  return edited && edited.start < edited.end ? edited : { start: first, end };
}

/** A track as a player presents it, and when, in seconds of the presentation. */
export interface PresentedTrack<Track extends InputTrack> extends TimeRange {
  track: Track;
  /** Time of the stream that is the zero of the presentation. */
  origin: number;
}

export type PresentedVideo = PresentedTrack<InputVideoTrack>;
export type PresentedAudio = PresentedTrack<InputAudioTrack>;
type TrackTimes = Pick<PresentedVideo, "start" | "end" | "origin">;

/** Presents all of a stream at its own times. */
export function presentWhole<Track extends InputTrack>(track: Track): PresentedTrack<Track> {
  return { track, start: 0, end: Number.MAX_SAFE_INTEGER, origin: 0 };
}

/** Whether a time range shows something of a track. */
export function isPresented(track: TimeRange, { start, end }: TimeRange): boolean {
  return track.start < end && track.end > start + ROUNDING_SECONDS;
}

/**
 * Converts a time of the presentation to that of the stream: of the first frame before it begins,
 * and of the last one, which stays on screen, from its end on.
 */
export function toStreamTime({ start, end, origin }: TrackTimes, seconds: number): number {
  const last = Math.max(start, end - INSTANT_SECONDS);
  return origin + Math.min(Math.max(seconds, start), last);
}

/** Clips a time range to a track, in stream time. It has an instant at least. */
export function toStreamRange(track: TrackTimes, range: TimeRange): TimeRange {
  const start = toStreamTime(track, range.start);
  const end = track.origin + Math.min(range.end, track.end);
  return { start, end: Math.max(end, start + INSTANT_SECONDS) };
}

/** Converts a time of the stream to that of the presentation, within the track. */
export function toPresentationTime({ start, end, origin }: TrackTimes, streamSeconds: number) {
  return Math.min(end, Math.max(start, streamSeconds - origin));
}

/** What a file promises and hasn't. */
export interface MissingMedia {
  /** 0 if it isn't known. */
  bytes: number;
  /** 0 if it isn't known. */
  seconds: number;
  /** Presentation time of the first of it, null if it isn't known. */
  fromSeconds: number | null;
}

/** Differences below both are rounding, or frames that encoders drop. */
const TOLERANCE = { seconds: 0.5, share: 0.02 };

/** Says what is missing. */
export function describeMissing({ bytes, seconds, fromSeconds }: MissingMedia): string {
  const time = seconds > 0 ? `${seconds.toFixed(1)} s` : null;
  const size = bytes > 0 ? `${bytes} bytes` : null;
  const amount = time && size ? `${time} (${size})` : (time ?? `at least ${size}`);
  const from = fromSeconds === null ? "" : `, from ${fromSeconds.toFixed(1)} s on`;
  return `The file isn't complete: ${amount} are missing${from}. Send the whole file.`;
}

/** When the tracks of a stored file are presented, and what of it is read. */
export interface Timeline extends Presentation {
  /** Ids of its tracks in the container, null without one. */
  videoId: number | null;
  audioId: number | null;
  /** What the file promises and hasn't, null for a complete one. */
  missing: MissingMedia | null;
}

/** Ranges for the start and for the end of any video. */
const START: TimeRange = { start: 0, end: 0 };
const END: TimeRange = { start: Infinity, end: Infinity };

/** Packets that show how long a frame lasts. */
const MEASURED_PACKETS = 50;
const MAX_LAST_SECONDS = 0.1;

/** Timelines by stored object: each step of an ingest, and each frame of an answer, needs one. */
const timelines = remember(new LruCache<Timeline>(64));

/** Returns the timeline of a stored file. Throws errors of the container library. */
export function getTimeline(file: StoredFile): Promise<Timeline> {
  return timelines.get(file.version, () => readTimeline(file));
}

/** Throws `unreadable_container` for what only the decoder reads, and the library's errors. */
export async function readTimeline(file: RangedFile): Promise<Timeline> {
  const edits = await readMp4Edits(file);
  using first = await openInput(file, START);
  using last = await openInput(file, END);
  const audio = await first.getPrimaryAudioTrack();
  const video = await selectVideoTrack(first, audio !== null);
  const measure = async (track: InputTrack | null): Promise<TrackExtent | null> => {
    const lastTrack = (await last.getTracks()).find(({ id }) => id === track?.id);
    if (!track || !lastTrack) return null;
    const edit = edits.get(track.id) ?? null;
    return { first: await track.getFirstTimestamp(), end: await endOfTrack(lastTrack), edit };
  };
  const presentation = presentTracks(await measure(video), await measure(audio));
  const { origin, durationSeconds } = presentation;
  const statedEnd = edits.size === 0 ? await readStatedEnd(file, first) : 0;
  const seconds = statedEnd - origin - durationSeconds;
  const isWhole = seconds <= Math.max(TOLERANCE.seconds, TOLERANCE.share * durationSeconds);
  const missing = isWhole ? null : { bytes: 0, seconds, fromSeconds: durationSeconds };
  return { ...presentation, videoId: video?.id ?? null, audioId: audio?.id ?? null, missing };
}

/** Bytes of some frames of MP3. */
const FRAMES_BYTES = 8192;

/**
 * Returns when the last of all tracks ends by what a file states, in seconds; 0 if it states
 * nothing. Of an MP3 without a Xing header the library estimates it by the size of the file:
 * without some frames it becomes another.
 */
async function readStatedEnd(file: RangedFile, input: Input): Promise<number> {
  const stated = (await input.getDurationFromMetadata()) ?? 0;
  if ((await input.getFormat()).name !== "MP3") return stated;
  const size = file.size - Math.min(FRAMES_BYTES, Math.floor(file.size / 2));
  using shorter = await openInput({ ...file, size }, START);
  return (await shorter.getDurationFromMetadata()) === stated ? stated : 0;
}

/**
 * Returns the end of the last packet. One without a duration, as the last one of Matroska, lasts as
 * long as the others do, at most to the end that the container states, or `MAX_LAST_SECONDS`. The
 * only one, a still, lasts that long.
 */
async function endOfTrack(track: InputTrack): Promise<number> {
  const sink = new EncodedPacketSink(track);
  // The library would look for a frame of an empty FLAC for ever.
  if (!(await sink.getFirstPacket({ metadataOnly: true }))) return 0;
  const end = await track.computeDuration();
  const last = await sink.getPacket(Infinity, { metadataOnly: true });
  if (!last || last.duration > 0) return end;
  const { averagePacketRate } = await track.computePacketStats(MEASURED_PACKETS);
  const stated = (await track.getDurationFromMetadata()) ?? end;
  const longest = Math.max(MAX_LAST_SECONDS, stated - end);
  const isMeasured = averagePacketRate > 0 && averagePacketRate < Infinity;
  return end + (isMeasured ? Math.min(longest, 1 / averagePacketRate) : longest);
}

/**
 * Returns the primary video track. A still, such as a cover, isn't one beside a video, nor beside
 * sound.
 */
async function selectVideoTrack(input: Input, hasAudio: boolean) {
  const isVideo = async (track: InputTrack) => (await track.getCodec()) !== null;
  const video = await input.getPrimaryVideoTrack({ filter: isVideo });
  if (video) return video;
  const other = await input.getPrimaryVideoTrack();
  const isCover = hasAudio && other && (await other.computePacketStats(2)).packetCount < 2;
  return isCover ? null : other;
}

/**
 * Reads the edit list of each track of an MP4 by its id: what it presents. Leaves out damaged
 * tracks; none of another file. Throws `unreadable_container` for an MP4 with samples and
 * fragments.
 */
async function readMp4Edits(file: RangedFile): Promise<Map<number, TimeRange>> {
  const ranges = new Map<number, TimeRange>();
  const moov = await findMoov(file);
  try {
    const movieHeader = moov && findBox(moov, "mvhd");
    if (!movieHeader) return ranges;
    if (findBox(moov, "mvex") && (await hasSamples(file, moov))) {
      const message = "The MP4 has samples and fragments. Write it again in one kind.";
      throw new AppError("unreadable_container", message);
    }
    const movieTimescale = await readTimescale(file, movieHeader);
    for (const track of moov.children) {
      const header = findBox(track, "tkhd");
      if (!header) continue;
      const view = await readContent(file, header, 0, 24);
      const id = view.getUint32(view.getUint8(0) === 0 ? 12 : 20);
      const tables = findBox(track, "mdia", "minf", "stbl")?.children ?? [];
      await requireBackedTables(file, tables, (await readHandler(file, track)) === "vide");
      if (!(await isMediaTrack(file, track))) continue;
      const { delay, duration } = await readEdit(file, track);
      const start = delay / movieTimescale;
      ranges.set(id, { start, end: start + (duration / movieTimescale || Infinity) });
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return ranges;
}

/** Boxes of fragments and of their data. */
const MEDIA_TYPES = new Set(["moof", "mdat"]);
/** Zeros at the end of a file that are the rest of a download: no media has as many in a row. */
const ZERO_BYTES = 4096;
/** Sizes in a WAV whose size wasn't known as it was written. */
const UNKNOWN_SIZES = new Set([0, 0xff_ff_ff_ff]);

/** Throws `unreadable_container` for a file that was cut off: the decoder reads what is there. */
export async function requireComplete(file: RangedFile): Promise<void> {
  const bytes = await countMissingBytes(file);
  if (bytes === 0) return;
  const message = describeMissing({ bytes, seconds: 0, fromSeconds: null });
  throw new AppError("unreadable_container", message);
}

/**
 * Returns the bytes, at least, that a WAV, Matroska or MP4 file lacks of what its sizes promise, or
 * that are zeros at its end, which in a WAV are silence.
 */
export async function countMissingBytes(file: RangedFile): Promise<number> {
  const head = Buffer.from(await file.read(0, 12));
  if (head.toString("latin1", 0, 4) === "RIFF" && head.toString("latin1", 8) === "WAVE") {
    const size = head.readUInt32LE(4);
    return UNKNOWN_SIZES.has(size) ? 0 : Math.max(0, size + 8 - file.size);
  }
  const tail = await file.read(Math.max(0, file.size - ZERO_BYTES), file.size, "once");
  const isZero = tail.length === ZERO_BYTES && tail.every((byte) => byte === 0);
  const available = isZero ? file.size - ZERO_BYTES : file.size;
  let promised = (await readPromisedBytes(file)) ?? 0;
  for await (const { type, end } of topLevelBoxes(file)) if (MEDIA_TYPES.has(type)) promised = end;
  return Math.max(0, promised - available);
}
