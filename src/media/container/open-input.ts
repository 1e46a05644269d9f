import {
  ADTS,
  FLAC,
  Input,
  MATROSKA,
  MP3,
  MP4,
  OGG,
  QTFF,
  WAVE,
  WEBM,
  CustomSource,
} from "mediabunny";
import { PAUSE_READS, pause } from "../../concurrency.ts";
import type { TimeRange } from "../../time-range.ts";
import { requireWithinBudget } from "../structure-budget.ts";
import { MatroskaCounts, parseElement } from "./matroska.ts";
import { type Patch, requireSmallMoov, sliceMoov } from "./moov-slice.ts";
import { findMoov, type RangedFile } from "./mp4-boxes.ts";

/**
 * All of mediabunny but HLS, which is a playlist of other files, and MPEG-TS, whose clocks restart
 * and whose pictures are stored as fields: the decoder reads it.
 */
const FORMATS = [MP4, QTFF, MATROSKA, WEBM, WAVE, OGG, FLAC, MP3, ADTS];

/** Cache of one reader, besides the blocks that the isolate caches. */
const READER_CACHE_BYTES = 2 * 1024 * 1024;

/**
 * Opens a file to read a range of its stream, in seconds. The memory doesn't grow with the length
 * of the video. Packets outside of the range may be missing.
 */
export async function openInput(file: RangedFile, range: TimeRange): Promise<Input> {
  const patch = await sliceMoov(file, range);
  const unchanged = patch ? null : await findMoov(file);
  if (unchanged) await requireSmallMoov(file, unchanged);
  const source = new GuardedSource({
    getSize: () => file.size,
    read: (start, end) => readPatched(file, patch, start, end),
    maxCacheSize: READER_CACHE_BYTES,
    prefetchProfile: "fileSystem",
  });
  const input = new Input({ source, formats: FORMATS });
  await input.getTracks();
  source.endOpening();
  return input;
}

async function readPatched(file: RangedFile, patch: Patch | null, start: number, end: number) {
  if (!patch || end <= patch.start || start >= patch.end) return file.read(start, end);
  const bytes = new Uint8Array(end - start);
  const put = (part: Uint8Array, at: number) => bytes.set(part, at - start);
  if (start < patch.start) put(await file.read(start, patch.start), start);
  if (end > patch.end) put(await file.read(patch.end, end), patch.end);
  const from = Math.max(start, patch.start);
  put(patch.bytes.subarray(from - patch.start, end - patch.start), from);
  return bytes;
}

/** Bytes that were read; the first of them is at `offset` in the file. */
interface ReadResult {
  bytes: Uint8Array;
  offset: number;
}
type Read = (start: number, end: number, ...limits: number[]) => ReadResult | null;

/** The method by which the container library reads from a source, which its types leave out. */
const { _read: readSource } = CustomSource.prototype as unknown as { _read: Read };
/** Longest header that the library reads on its own before the content of a box or element. */
const MAX_HEADER_BYTES = 16;

/**
 * Source that checks what the container library reads of a file, before the library makes entries
 * of it, and lets other requests run meanwhile. Throws `too_large`.
 */
class GuardedSource extends CustomSource {
  #requests = 0;
  #openingBytes = 0;
  #isOpening = true;
  /** Content whose header was read last. */
  #content: { type: number | "mfra"; start: number; end: number } | null = null;
  readonly #matroska = new MatroskaCounts();

  /** Ends the limits on headers: all later reads are of frames. */
  endOpening(): void {
    this.#isOpening = false;
  }

  _read(
    start: number,
    end: number,
    ...limits: number[]
  ): Promise<ReadResult | null> | ReadResult | null {
    const length = end - start;
    requireWithinBudget("bytes in one piece", length);
    requireWithinBudget("frames", ++this.#requests);
    if (this.#isOpening) {
      requireWithinBudget("headers before its first frame", this.#requests);
      requireWithinBudget("bytes before its first frame", (this.#openingBytes += length));
    }
    const check = (result: ReadResult | null) => {
      if (result) {
        const from = start - result.offset;
        this.#check(
          start,
          Buffer.from(result.bytes.buffer, result.bytes.byteOffset + from, length),
        );
      }
      return result;
    };
    const result = Reflect.apply(readSource, this, [start, end, ...limits]);
    if (result instanceof Promise) return result.then(check);
    const checked = check(result);
    return this.#requests % PAUSE_READS === 0 ? pause().then(() => checked) : checked;
  }

  #check(start: number, bytes: Buffer): void {
    const content = this.#content;
    const isContent = content?.start === start && content.end === start + bytes.length;
    this.#content = null;
    if (isContent && content.type === "mfra") checkIndexOfFragments(bytes);
    else if (isContent) this.#matroska.add(content.type as number, bytes);
    else if (bytes.length > MAX_HEADER_BYTES) checkFragment(bytes);
    else if (bytes.toString("latin1", 4, 8) === "mfra") {
      this.#content = { type: "mfra", start: start + 8, end: start + bytes.readUInt32BE(0) };
    } else {
      const element = parseElement(bytes, 0);
      if (!element) return;
      this.#matroska.addHeader(element.id);
      const [contentStart, end] = [start + element.contentStart, start + element.end];
      this.#content = { type: element.id, start: contentStart, end };
    }
  }
}

/** Checks the runs of a box `moof` (ISO/IEC 14496-12, 8.8.8), wherever they are in it. */
function checkFragment(box: Buffer): void {
  if (box.toString("latin1", 4, 8) !== "moof") return;
  let samples = 0;
  for (let at = 7; (at = box.indexOf("trun", at + 1)) >= 0 && at + 12 <= box.length;) {
    samples += box.readUInt32BE(at + 8);
    requireWithinBudget("samples in a fragment", samples);
  }
}

/** Checks the times in a box `mfra` (ISO/IEC 14496-12, 8.8.10). */
function checkIndexOfFragments(content: Buffer): void {
  const times = new Set<number | bigint>();
  let entries = 0;
  for (let at = -1; (at = content.indexOf("tfra", at + 1)) >= 0 && at + 20 <= content.length;) {
    const isLong = content[at + 4] === 1;
    const sizes = content[at + 15]!;
    const entryBytes =
      (isLong ? 16 : 8) + 3 + ((sizes >> 4) & 3) + ((sizes >> 2) & 3) + (sizes & 3);
    const last = Math.min(
      content.length - entryBytes,
      at + 20 + (content.readUInt32BE(at + 16) - 1) * entryBytes,
    );
    for (let entry = at + 20; entry <= last; entry += entryBytes) {
      times.add(isLong ? content.readBigUInt64BE(entry) : content.readUInt32BE(entry));
      requireWithinBudget("cue points", ++entries);
    }
  }
  requireWithinBudget("cue points at one time", entries - times.size);
}
