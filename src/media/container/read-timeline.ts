import { EncodedPacketSink, type Input, type InputTrack } from "mediabunny";
import { remember } from "../../isolate-memory.ts";
import { LruCache } from "../../lru-cache.ts";
import type { TimeRange } from "../../time-range.ts";
import { type AvailableBytes, measureBytes } from "./available-bytes.ts";
import { libraryShift, readEdits, toEdits } from "./edit-list.ts";
import { type FilePart, listParts, openPart } from "./file-parts.ts";
import { compareWithPromised, gapBefore, type MissingMedia } from "./missing-media.ts";
import { readFrameCount } from "./mp3.ts";
import { findBox, findMoov, type RangedFile, readContent, readTimescale } from "./mp4-boxes.ts";
import type { StoredFile } from "./r2-file.ts";
import { findZeroSamples, firstMissingTime } from "./sample-list.ts";
import {
  type Edit,
  type PartExtent,
  combineParts,
  type Presentation,
  type Span,
  toPresentationTime,
  type TrackExtent,
} from "./timeline.ts";

/** When the tracks of a stored file are presented, and where in the file they are. */
export interface Timeline extends Presentation {
  parts: TimelinePart[];
  /** What the file promises and hasn't, null for a complete one. */
  missing: MissingMedia | null;
}

export interface TimelinePart {
  part: FilePart;
  /** Ids of its tracks in the container, null without one. */
  videoId: number | null;
  audioId: number | null;
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

export async function readTimeline(file: RangedFile): Promise<Timeline> {
  const tables = await readMp4Tracks(file);
  const parts: MeasuredPart[] = [];
  const listed = await listParts(file);
  // The edit list of a file with samples and fragments is as old as the samples.
  const isHybrid = listed.length > 1 && listed[0]!.kind === "samples";
  for (const part of listed) {
    const measured = await measurePart(file, part, tables, isHybrid).catch((error: unknown) => {
      if (parts.length === 0) throw error;
      return null; // too little of it is left
    });
    if (measured && (parts.length === 0 || hasTracks(measured))) parts.push(measured);
  }
  const presentation = combineParts(parts);
  const missing = findMissing(file, parts, presentation, tables.size > 0);
  const readable = parts.map(({ part, videoId, audioId }) => ({ part, videoId, audioId }));
  return { parts: readable, ...presentation, missing };
}

interface MeasuredPart extends TimelinePart, PartExtent {
  missingBytes: number;
}

function hasTracks({ video, audio }: PartExtent): boolean {
  return video !== null || audio !== null;
}

async function measurePart(
  file: RangedFile,
  listed: FilePart,
  tables: ReadonlyMap<number, Mp4Track>,
  isHybrid: boolean,
): Promise<MeasuredPart> {
  const bytes = await measureBytes(file, listed);
  const part = listed.kind === "fragments" ? { ...listed, end: bytes.available } : listed;
  using first = await openPart(file, part, START);
  using last = await openPart(file, part, END);
  const audio = await first.getPrimaryAudioTrack();
  const video = await selectVideoTrack(first, audio !== null);
  const measure = async (track: InputTrack | null): Promise<TrackExtent | null> => {
    const lastTrack = (await last.getTracks()).find(({ id }) => id === track?.id);
    if (!track || !lastTrack) return null;
    const table = tables.get(track.id);
    const end = await endOfTrack(lastTrack);
    const isListed = part.kind === "samples" && table !== undefined;
    const firstMissing = isListed ? await table.firstMissing(bytes) : null;
    return {
      first: await track.getFirstTimestamp(),
      end: Math.min(end, firstMissing ?? Infinity),
      promisedEnd: Math.max(end, table ? ((await track.getDurationFromMetadata()) ?? 0) : 0),
      edits: isHybrid ? [] : (table?.edits ?? []),
    };
  };
  const [shown, heard] = [await measure(video), await measure(audio)];
  if (tables.size === 0 && part.kind === "samples") {
    // Matroska states when the last of all tracks ends.
    const stated = await readStatedEnd(file, first, audio);
    const longest = (shown?.end ?? 0) >= (heard?.end ?? 0) ? shown : heard;
    if (longest) longest.promisedEnd = Math.max(longest.promisedEnd, stated);
  }
  return {
    part,
    videoId: video?.id ?? null,
    audioId: audio?.id ?? null,
    video: shown,
    audio: heard,
    continuesClock: part.kind === "bytes" ? part.continuesClock : part.kind === "fragments",
    missingBytes: bytes.promised - bytes.available,
  };
}

/**
 * Returns the end in seconds that a file states, 0 if it states none. For MP3 without a Xing header
 * and for ADTS the library would estimate one by the size of the first frame.
 */
async function readStatedEnd(
  file: RangedFile,
  input: Input,
  audio: InputTrack | null,
): Promise<number> {
  const { name } = await input.getFormat();
  if (name === "ADTS") return 0;
  if (name !== "MP3") return (await input.getDurationFromMetadata()) ?? 0;
  const frames = await readFrameCount(file);
  if (frames === null || !audio) return 0;
  const { averagePacketRate } = await audio.computePacketStats(MEASURED_PACKETS);
  return averagePacketRate > 0 ? frames / averagePacketRate : 0;
}

/** Finds what the parts of a file promise and haven't. `hasTables`: it is an MP4. */
function findMissing(
  file: RangedFile,
  parts: readonly MeasuredPart[],
  presentation: Presentation,
  hasTables: boolean,
): MissingMedia | null {
  const gap = parts.findIndex(({ part }) => part.kind === "bytes" && part.continuesClock);
  const packetBytes = parts.reduce(
    (sum, { part }) => sum + (part.kind === "bytes" ? part.end - part.start : 0),
    0,
  );
  if (packetBytes > 0) {
    // Bytes between the parts of an MPEG-TS aren't packets of it.
    return gap > 0 ? gapBefore(presentation, gap, file.size - packetBytes) : null;
  }
  const bytes = Math.max(0, ...parts.map(({ missingBytes }) => missingBytes));
  const isTimed = hasTables && parts.every(({ part }) => part.kind === "samples");
  return compareWithPromised(presentation, combineParts(parts.map(toPromised)), { bytes, isTimed });
}

/** Returns a part with all that its container promises. */
function toPromised(part: MeasuredPart): PartExtent {
  const extend = (extent: TrackExtent | null) => extent && { ...extent, end: extent.promisedEnd };
  return { ...part, video: extend(part.video), audio: extend(part.audio) };
}

/**
 * Returns the end of the last packet. One without a duration, as the last one of Matroska, lasts as
 * long as the others do, at most to the end that the container states, or `MAX_LAST_SECONDS`.
 */
async function endOfTrack(track: InputTrack): Promise<number> {
  const end = await track.computeDuration();
  const last = await new EncodedPacketSink(track).getPacket(Infinity, { metadataOnly: true });
  if (!last || last.duration > 0) return end;
  const { averagePacketRate } = await track.computePacketStats(MEASURED_PACKETS);
  const stated = (await track.getDurationFromMetadata()) ?? end;
  const longest = Math.max(MAX_LAST_SECONDS, stated - end);
  const isMeasured = averagePacketRate > 0 && averagePacketRate < Infinity;
  return end + (isMeasured ? Math.min(longest, 1 / averagePacketRate) : MAX_LAST_SECONDS);
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
  edits: Edit[];
  /** Returns when the first sample that isn't there would be decoded, null if all are there. */
  firstMissing: (bytes: AvailableBytes) => Promise<number | null>;
  /** Returns when the first samples would be decoded of which a file has only zeros. */
  findHole: () => Promise<TimeRange | null>;
}

/**
 * Finds a hole in the video of an MP4, as downloads in pieces leave it: samples that are all zeros.
 * Reads samples from all over the file.
 */
export async function findHole(
  file: RangedFile,
  { parts, video }: Timeline,
): Promise<MissingMedia | null> {
  const videoId = parts[0]?.videoId;
  const table = (await readMp4Tracks(file)).get(videoId ?? -1);
  const hole = parts[0]?.part.kind === "samples" ? await table?.findHole() : undefined;
  if (!hole) return null;
  const span = video.find((each) => overlapOf(each, hole).seconds > 0);
  return span ? { bytes: 0, ...overlapOf(span, hole) } : null;
}

/** Returns when a span presents a range of the stream, and for how long. */
function overlapOf(span: Span, { start, end }: TimeRange) {
  const fromSeconds = toPresentationTime(span, start);
  return { fromSeconds, seconds: toPresentationTime(span, end) - fromSeconds };
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
      const timescale = await readTimescale(file, mediaHeader);
      const stored = await readEdits(file, track);
      const { mediaTime, delay } = libraryShift(stored) ?? { mediaTime: 0, delay: 0 };
      const toSeconds = (time: number) => (time - mediaTime) / timescale + delay / movieTimescale;
      tracks.set(id, {
        edits: findBox(track, "edts", "elst") ? toEdits(stored, movieTimescale, timescale) : [],
        firstMissing: async (bytes) => {
          const time = await firstMissingTime(file, track, bytes);
          return time === null ? null : toSeconds(time);
        },
        findHole: async () => {
          const hole = await findZeroSamples(file, track);
          return hole && { start: toSeconds(hole.start), end: toSeconds(hole.end) };
        },
      });
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return tracks;
}
