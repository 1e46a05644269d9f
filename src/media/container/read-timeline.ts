import { EncodedPacketSink, type Input, type InputTrack } from "mediabunny";
import { AppError } from "../../errors.ts";
import { remember } from "../../isolate-memory.ts";
import { LruCache } from "../../lru-cache.ts";
import type { TimeRange } from "../../time-range.ts";
import { presentedRange, readEdits } from "./edit-list.ts";
import { readPromisedBytes } from "./matroska.ts";
import { hasSamples } from "./moov-slice.ts";
import {
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
import { requireBackedTables } from "./sample-tables.ts";
import {
  compareWithPromised,
  type MissingMedia,
  presentTracks,
  type Presentation,
  type TrackExtent,
} from "./timeline.ts";

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
      tracks.set(id, () => presentedRange(edits, movieTimescale));
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
