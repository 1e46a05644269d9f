import { EncodedPacketSink, type Input, type InputTrack } from "mediabunny";
import { AppError } from "../../errors.ts";
import { remember } from "../../isolate-memory.ts";
import { LruCache } from "../../lru-cache.ts";
import type { TimeRange } from "../../time-range.ts";
import { libraryShift, presentedRange, readEdits } from "./edit-list.ts";
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
import { type AvailableBytes, firstMissingTime, requireBackedTables } from "./sample-tables.ts";
import {
  compareWithPromised,
  type MissingMedia,
  presentTracks,
  type Presentation,
  toPresentationTime,
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
    const table = tables.get(track.id);
    const end = await endOfTrack(lastTrack);
    const firstMissing = isFragmented ? null : await table?.firstMissing(bytes);
    return {
      first: await track.getFirstTimestamp(),
      end: Math.min(end, firstMissing ?? Infinity),
      promisedEnd: Math.max(end, table ? ((await track.getDurationFromMetadata()) ?? 0) : 0),
      edit: table?.presentedRange() ?? null,
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

/** What the tables of a track of an MP4 say. */
interface Mp4Track {
  presentedRange: () => TimeRange | null;
  /** Returns when the first sample that isn't there would be decoded, null if all are there. */
  firstMissing: (bytes: AvailableBytes) => Promise<number | null>;
}

/**
 * Finds a hole in the video of an MP4, as downloads in pieces leave it: bytes that are all zeros,
 * which blocks from all over the file show.
 */
export async function findHole(
  file: RangedFile,
  { videoId, video, origin, readableBytes }: Timeline,
): Promise<MissingMedia | null> {
  const table = (await readMp4Tracks(file)).get(videoId ?? -1);
  const hole = table && readableBytes === file.size ? await findZeros(file) : null;
  if (!table || !hole || !video) return null;
  const timeOf = async (available: number) => {
    const time = await table.firstMissing({ promised: file.size, available });
    return time === null ? video.end : toPresentationTime({ ...video, origin }, time);
  };
  const [from, to] = [await timeOf(hole.start), await timeOf(hole.end)];
  return to > from ? { bytes: hole.end - hole.start, seconds: to - from, fromSeconds: from } : null;
}

/** Reads the tables of each track of an MP4 by its id. Damaged ones are left out. */
async function readMp4Tracks(file: RangedFile): Promise<Map<number, Mp4Track>> {
  const tracks = new Map<number, Mp4Track>();
  const moov = await findMoov(file);
  try {
    const movieHeader = moov && findBox(moov, "mvhd");
    if (!movieHeader) return tracks;
    const movieTimescale = await readTimescale(file, movieHeader);
    for (const track of moov.children) {
      const [header, mediaHeader] = [findBox(track, "tkhd"), findBox(track, "mdia", "mdhd")];
      if (!header || !mediaHeader) continue;
      const view = await readContent(file, header, 0, 24);
      const id = view.getUint32(view.getUint8(0) === 0 ? 12 : 20);
      const tables = findBox(track, "mdia", "minf", "stbl")?.children ?? [];
      await requireBackedTables(file, tables, (await readHandler(file, track)) === "vide");
      const timescale = await readTimescale(file, mediaHeader);
      const edits = await readEdits(file, track);
      const { mediaTime, delay } = libraryShift(edits) ?? { mediaTime: 0, delay: 0 };
      tracks.set(id, {
        presentedRange: () => presentedRange(edits, movieTimescale),
        firstMissing: async (bytes) => {
          const time = await firstMissingTime(file, track, bytes);
          return time === null ? null : (time - mediaTime) / timescale + delay / movieTimescale;
        },
      });
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return tracks;
}

/** Boxes of fragments and of their data. */
const MEDIA_TYPES = new Set(["moof", "mdat"]);
/** Bytes of a probe. No media has as many zeros in a row. */
const PROBE_BYTES = 4096;
/** Blocks that are read to find a hole. */
const PROBES = 64;

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

/** Returns the offset of the zeros that a file ends with, its size if it ends otherwise. */
async function findZeroTail(file: RangedFile): Promise<number> {
  const last = file.size - PROBE_BYTES;
  return last > 0 && (await isZero(file, last)) ? lastZero(file, last, 0) : file.size;
}

/** Returns the first range of zeros that a few blocks from all over a file show. */
async function findZeros(file: RangedFile): Promise<{ start: number; end: number } | null> {
  const step = Math.max(PROBE_BYTES, Math.ceil(file.size / PROBES));
  for (let probe = 0; probe < file.size; probe += step) {
    if (!(await isZero(file, probe, "once"))) continue;
    const start = await lastZero(file, probe, Math.max(-1, probe - step));
    let zero = probe;
    while (await isZero(file, zero + step, "once")) zero += step;
    return { start, end: PROBE_BYTES + (await lastZero(file, zero, zero + step)) };
  }
  return null;
}

/** Whether a file has a block of zeros at an offset. */
async function isZero(file: RangedFile, at: number, use?: "once"): Promise<boolean> {
  if (at + PROBE_BYTES > file.size) return false;
  return (await file.read(at, at + PROBE_BYTES, use)).every((byte) => byte === 0);
}

/** Returns the last block of zeros from one of them towards one that isn't, by halves. */
async function lastZero(file: RangedFile, zero: number, other: number): Promise<number> {
  let [inside, outside] = [zero, other];
  while (Math.abs(outside - inside) > 1) {
    const middle = Math.floor((inside + outside) / 2);
    if (await isZero(file, middle, "once")) inside = middle;
    else outside = middle;
  }
  return inside;
}
