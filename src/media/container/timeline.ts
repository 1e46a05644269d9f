import {
  type InputAudioTrack,
  type InputTrack,
  type InputVideoTrack,
  EncodedPacketSink,
  type Input,
} from "mediabunny";
import { AppError } from "../../errors.ts";
import { remember } from "../../isolate-memory.ts";
import { maxOf, minOf } from "../../lists.ts";
import { LruCache } from "../../lru-cache.ts";
import type { TimeRange } from "../../time-range.ts";
import { readPromisedBytes } from "./matroska.ts";
import { hasSamples, requireBackedTables } from "./moov-slice.ts";
import {
  editedRange,
  readEdits,
  findBox,
  findMoov,
  type Mp4Box,
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
  /** End by what the container says of it, not before `end`. */
  promisedEnd: number;
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
  seconds: number;
  /** Presentation time of the first of it. */
  fromSeconds: number;
}

/** Differences below both are rounding, or frames that encoders drop. */
const TOLERANCE = { seconds: 0.5, share: 0.02 };

/**
 * Compares what is presented with what the container promises. `bytes` are missing; `isTimed` says
 * whether the container has times for them. Null if all is there that would be presented.
 */
function compareWithPromised(
  actual: Presentation,
  promised: Presentation,
  { bytes, isTimed }: { bytes: number; isTimed: boolean },
): MissingMedia | null {
  const lost = (["video", "audio"] as const)
    .map((kind) => ({ from: actual[kind]?.end ?? 0, to: promised[kind]?.end ?? 0 }))
    .filter(({ from, to }) => to > from);
  const seconds = maxOf(
    lost.map(({ from, to }) => to - from),
    0,
  );
  const tolerance = Math.max(TOLERANCE.seconds, TOLERANCE.share * promised.durationSeconds);
  const isWhole = bytes > 0 ? isTimed && seconds === 0 : seconds <= tolerance;
  if (isWhole) return null;
  const fromSeconds = minOf(
    lost.map(({ from }) => from),
    actual.durationSeconds,
  );
  return { bytes, seconds, fromSeconds };
}

/** Says what is missing. */
export function describeMissing({ bytes, seconds, fromSeconds }: MissingMedia): string {
  const time = seconds > 0 ? `${seconds.toFixed(1)} s` : null;
  const size = bytes > 0 ? `${bytes} bytes` : null;
  const amount = time && size ? `${time} (${size})` : (time ?? `at least ${size}`);
  const from = fromSeconds.toFixed(1);
  return `The file isn't complete: ${amount} are missing, from ${from} s on. Send the whole file.`;
}

/** When the tracks of a stored file are presented, and what of it is read. */
export interface Timeline extends Presentation {
  /** Ids of its tracks in the container, null without one. */
  videoId: number | null;
  audioId: number | null;
  /** Bytes up to the end of the last fragment that is complete. */
  readableBytes: number;
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
  const tables = await readMp4Tracks(file);
  const { isFragmented, ...bytes } = await measureBytes(file);
  const readableBytes = isFragmented ? bytes.available : file.size;
  using first = await openInput(file, readableBytes, START);
  using last = await openInput(file, readableBytes, END);
  const audio = await first.getPrimaryAudioTrack();
  const video = await selectVideoTrack(first, audio !== null);
  const measure = async (track: InputTrack | null): Promise<TrackExtent | null> => {
    const lastTrack = (await last.getTracks()).find(({ id }) => id === track?.id);
    if (!track || !lastTrack) return null;
    const edits = tables.get(track.id);
    const [start, end] = [await track.getFirstTimestamp(), await endOfTrack(lastTrack)];
    const isWhole = isFragmented || !edits;
    return {
      first: start,
      end: isWhole ? end : await findReadableEnd(file, bytes.available, track.id, { start, end }),
      promisedEnd: Math.max(end, edits ? ((await track.getDurationFromMetadata()) ?? 0) : 0),
      edit: edits?.() ?? null,
    };
  };
  const [pictures, sound] = [await measure(video), await measure(audio)];
  const isMp4 = tables.size > 0;
  if (!isMp4 && !isFragmented) {
    // Matroska states when the last of all tracks ends.
    const stated = await readStatedEnd(file, first);
    const longest = (pictures?.end ?? 0) >= (sound?.end ?? 0) ? pictures : sound;
    if (longest) longest.promisedEnd = Math.max(longest.promisedEnd, stated);
  }
  const presentation = presentTracks(pictures, sound);
  const withPromised = (extent: TrackExtent | null) =>
    extent && { ...extent, end: extent.promisedEnd };
  const promised = presentTracks(withPromised(pictures), withPromised(sound));
  const missing = compareWithPromised(presentation, promised, {
    bytes: bytes.promised - bytes.available,
    isTimed: isMp4 && !isFragmented,
  });
  const [videoId, audioId] = [video?.id ?? null, audio?.id ?? null];
  return { ...presentation, videoId, audioId, readableBytes, missing };
}

/** Bytes of some frames of MP3 or AAC. */
const FRAMES_BYTES = 8192;

/**
 * Returns the end in seconds that a file states, 0 if it states none. Of an MP3 without a Xing
 * header and of ADTS the library estimates one by the size of the file: without some frames it
 * becomes another.
 */
async function readStatedEnd(file: RangedFile, input: Input): Promise<number> {
  const stated = (await input.getDurationFromMetadata()) ?? 0;
  const { name } = await input.getFormat();
  if (name !== "MP3" && name !== "ADTS") return stated;
  const size = file.size - Math.min(FRAMES_BYTES, Math.floor(file.size / 2));
  using shorter = await openInput(file, size, START);
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

/** Less than the duration of a frame: how exactly the end of an incomplete track is found. */
const PRECISION_SECONDS = 0.005;

/**
 * Returns when the first packet of a track is presented that isn't in the first `size` bytes of a
 * file, found by halves; the end of `range` if all are there.
 */
async function findReadableEnd(
  file: RangedFile,
  size: number,
  trackId: number,
  { start, end }: TimeRange,
): Promise<number> {
  const isReadable = async (seconds: number) => {
    using input = await openInput(file, size, { start: seconds, end: seconds });
    const track = (await input.getTracks()).find(({ id }) => id === trackId);
    try {
      return (
        track !== undefined && (await new EncodedPacketSink(track).getPacket(seconds)) !== null
      );
    } catch (error) {
      if (error instanceof AppError) throw error;
      return false; // its bytes are beyond the end
    }
  };
  if (await isReadable(Infinity)) return end;
  if (!(await isReadable(start))) return start;
  let [readable, missing] = [start, end];
  while (missing - readable > PRECISION_SECONDS) {
    const middle = (readable + missing) / 2;
    if (await isReadable(middle)) readable = middle;
    else missing = middle;
  }
  return missing;
}

/**
 * Reads the edit list of each track of an MP4 by its id: what it presents. Leaves out damaged
 * tracks.
 */
async function readMp4Tracks(file: RangedFile): Promise<Map<number, () => TimeRange | null>> {
  const tracks = new Map<number, () => TimeRange | null>();
  const moov = await findMoov(file);
  try {
    const movieHeader = moov && findBox(moov, "mvhd");
    if (!movieHeader) return tracks;
    const movieTimescale = await readTimescale(file, movieHeader);
    for (const track of moov.children) {
      const header = findBox(track, "tkhd");
      if (!header) continue;
      const view = await readContent(file, header, 0, 24);
      const id = view.getUint32(view.getUint8(0) === 0 ? 12 : 20);
      const tables = findBox(track, "mdia", "minf", "stbl")?.children ?? [];
      await requireBackedTables(file, tables, (await readHandler(file, track)) === "vide");
      const edits = await readEdits(file, track);
      tracks.set(id, () => editedRange(edits, movieTimescale));
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return tracks;
}

/** What a file promises, and what of it is there. */
interface AvailableBytes {
  /** Bytes that the file would have. */
  promised: number;
  /** Bytes before the first one that is missing. */
  available: number;
}

/** Boxes of fragments and of their data. */
const MEDIA_TYPES = new Set(["moof", "mdat"]);
/** Bytes of a probe. No media has as many zeros in a row. */
const PROBE_BYTES = 4096;

/**
 * Compares the bytes of a file with those that its boxes promise. Zeros at the end of a file are
 * the rest of a download that was broken off. Throws `unreadable_container` for an MP4 with samples
 * and fragments.
 */
async function measureBytes(file: RangedFile): Promise<AvailableBytes & { isFragmented: boolean }> {
  const wave = await readWave(file);
  if (wave) return { ...wave, isFragmented: false };
  const available = await findZeroTail(file);
  const promisedByMatroska = await readPromisedBytes(file);
  if (promisedByMatroska !== null) {
    return { promised: promisedByMatroska, available, isFragmented: false };
  }
  const boxes = await measureBoxes(file, available);
  const promised = Math.max(file.size, boxes.end);
  const moov = await findMoov(file);
  const isFragmented = moov !== null && findBox(moov, "mvex") !== undefined;
  if (!isFragmented) return { promised, available, isFragmented };
  if (await hasSamples(file, moov)) {
    if (boxes.firstFragment === Infinity) return { promised, available, isFragmented: false };
    const message = "The MP4 has samples before its fragments. Write it again in one kind.";
    throw new AppError("unreadable_container", message);
  }
  // A fragment whose data aren't complete isn't read: its times would be those of all its frames.
  const { lastComplete, incomplete } = boxes;
  const fragment = lastComplete?.type === "moof" ? lastComplete : incomplete;
  const isMedia = incomplete && MEDIA_TYPES.has(incomplete.type);
  if (!isMedia || !fragment) return { promised: file.size, available: file.size, isFragmented };
  const isFirst = boxes.firstFragment >= fragment.start;
  return { promised, available: isFirst ? available : fragment.start, isFragmented };
}

/** Finds the end of the boxes of a file, and where in them a number of bytes ends. */
async function measureBoxes(file: RangedFile, available: number) {
  let [end, firstFragment] = [0, Infinity];
  let lastComplete: Mp4Box | null = null;
  let incomplete: Mp4Box | null = null;
  for await (const box of topLevelBoxes(file)) {
    end = box.end;
    if (end > available) incomplete ??= box;
    else lastComplete = box;
    if (box.type === "moof" && end <= available) firstFragment = Math.min(firstFragment, box.start);
  }
  return { end, firstFragment, lastComplete, incomplete };
}

/** Sizes in a WAV whose size wasn't known as it was written. */
const UNKNOWN_SIZES = new Set([0, 0xff_ff_ff_ff]);

/** Compares a WAV with the size that it states. Zeros at its end are silence. Null for others. */
async function readWave(file: RangedFile): Promise<AvailableBytes | null> {
  if (file.size < 12) return null;
  const head = Buffer.from(await file.read(0, 12));
  if (head.toString("latin1", 0, 4) !== "RIFF" || head.toString("latin1", 8, 12) !== "WAVE") {
    return null;
  }
  const size = head.readUInt32LE(4);
  const promised = UNKNOWN_SIZES.has(size) ? file.size : Math.max(file.size, size + 8);
  return { promised, available: file.size };
}

/** Returns the offset of the zeros that a file ends with, found by halves; else its size. */
async function findZeroTail(file: RangedFile): Promise<number> {
  let [zero, other] = [file.size - PROBE_BYTES, 0];
  if (zero <= 0 || !(await isZero(file, zero))) return file.size;
  while (zero - other > 1) {
    const middle = Math.floor((zero + other) / 2);
    if (await isZero(file, middle)) zero = middle;
    else other = middle;
  }
  return zero;
}

/** Whether a file has a block of zeros at an offset. */
async function isZero(file: RangedFile, at: number): Promise<boolean> {
  return (await file.read(at, at + PROBE_BYTES, "once")).every((byte) => byte === 0);
}
