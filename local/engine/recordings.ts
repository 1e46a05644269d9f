import { type FileHandle, open } from "node:fs/promises";
import { EngineError } from "./errors.ts";

/** A range of bytes of a file. */
export interface ByteRange {
  start: number;
  end: number;
}

/** The recordings that are joined in a file, each with its own clock. Most files have one. */
export interface Recordings {
  ranges: ByteRange[];
  /** Bytes between the packets of an MPEG-TS that aren't packets of it; zeros that end an MP4. */
  lost: ByteRange[];
}

const MAX_RECORDINGS = 1000;
const BLOCK_BYTES = 4 * 1024 * 1024;

/**
 * Lists the recordings of a file: those of an MPEG-TS in which the clock runs on, and the links of
 * a chained Ogg (RFC 3533, section 4). Reads such a file once, whole; of others a few bytes.
 * Errors: `undecodable_media` with more than 1,000 recordings.
 */
export async function listRecordings(path: string): Promise<Recordings> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const head = await read(file, 0, Math.min(size, PACKET_BYTES * 4));
    const layout = findLayout(head);
    if (layout) return await scanPackets(file, size, layout);
    if (head.subarray(0, 4).equals(PAGE)) return await scanPages(file, size);
    const lost = MAY_END_WITH_ZEROS.test(head.toString("hex", 0, 8))
      ? await findZeros(file, size)
      : [];
    return { ranges: [{ start: 0, end: size }], lost };
  } finally {
    await file.close();
  }
}

/** MP4 and Matroska. Zeros at the end of other files may be silence. */
const MAY_END_WITH_ZEROS = /^(?:.{8}66747970|1a45dfa3)/;
/** No media has as many zeros in a row: they are the rest of a download that broke off. */
const MIN_ZERO_BYTES = 4096;

async function findZeros(file: FileHandle, size: number): Promise<ByteRange[]> {
  let end = size;
  for (let start = size; start > 0 && end === start;) {
    start = Math.max(0, start - BLOCK_BYTES);
    const bytes = await read(file, start, end - start);
    end = start + bytes.findLastIndex((byte) => byte !== 0) + 1;
  }
  return size - end < MIN_ZERO_BYTES ? [] : [{ start: end, end: size }];
}

async function read(file: FileHandle, start: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start);
  return buffer.subarray(0, bytesRead);
}

function requireFew(count: number): void {
  if (count <= MAX_RECORDINGS) return;
  throw new EngineError("undecodable_media", "The file has too many restarts of its clock.");
}

const PAGE = Buffer.from("OggS");
const PAGE_HEADER_BYTES = 27;
const MAX_HEADER_BYTES = PAGE_HEADER_BYTES + 255;
/** Flag of the first page of a stream. */
const BEGINS_STREAM = 2;

/** A link begins with the first pages of its streams, behind a page that isn't a first one. */
async function scanPages(file: FileHandle, size: number): Promise<Recordings> {
  const starts = [0];
  let wasFirst = true;
  for (let at = 0; at + PAGE_HEADER_BYTES <= size;) {
    const bytes = await read(file, at, BLOCK_BYTES);
    const isLast = at + bytes.length >= size;
    let page = bytes.indexOf(PAGE);
    let next = bytes.length - PAGE.length + 1;
    while (page >= 0 && page + (isLast ? PAGE_HEADER_BYTES : MAX_HEADER_BYTES) <= bytes.length) {
      const isFirst = (bytes[page + 5]! & BEGINS_STREAM) !== 0;
      if (isFirst && !wasFirst) starts.push(at + page);
      wasFirst = isFirst;
      const lacing = bytes.subarray(page + PAGE_HEADER_BYTES).subarray(0, bytes[page + 26]);
      next = page + PAGE_HEADER_BYTES + lacing.reduce((sum, part) => sum + part, lacing.length);
      page = bytes.indexOf(PAGE, next);
    }
    if (page > 0 && !isLast) next = page;
    at += Math.max(1, isLast ? bytes.length : next);
  }
  requireFew(starts.length);
  const ranges = starts.map((start, link) => ({ start, end: starts[link + 1] ?? size }));
  return { ranges, lost: [] };
}

const SYNC_BYTE = 0x47;
const PACKET_BYTES = 188;
/** Bytes from one packet to the next, and those before its sync byte: plain, M2TS, with FEC. */
const LAYOUTS = [
  { stride: 188, lead: 0 },
  { stride: 192, lead: 4 },
  { stride: 204, lead: 0 },
];
type Layout = (typeof LAYOUTS)[number];
/** Packets that must begin with a sync byte. */
const PROBED_PACKETS = 3;
/** Ticks of the clock in a second, and of its 33 bits (ISO/IEC 13818-1, 2.4.3.7). */
const TICKS_PER_SECOND = 90_000;
const CLOCK_TICKS = 2 ** 33;
/** Decoding times of a stream rise. Further back than this, the clock has started again. */
const MAX_BACK_SECONDS = 0.5;
/** Further ahead of every stream than this, another recording begins: FFmpeg's threshold, too. */
const MAX_AHEAD_SECONDS = 10;
/** Stream ids of audio and video (table 2-22), and the private one that also carries audio. */
const isMediaStream = (id: number) => (id >= 0xc0 && id <= 0xef) || id === 0xbd || id === 0xfd;

function findLayout(head: Buffer): Layout | undefined {
  return LAYOUTS.find(({ stride, lead }) =>
    Array.from({ length: PROBED_PACKETS }, (_, i) => head[lead + i * stride]).every(
      (byte) => byte === SYNC_BYTE,
    ),
  );
}

/** A clock that overflows runs on. Joined recordings and restarted encoders have several clocks. */
async function scanPackets(
  file: FileHandle,
  size: number,
  { stride, lead }: Layout,
): Promise<Recordings> {
  const scan = new ClockScan(size);
  for (let at = 0; at + stride <= size;) {
    const bytes = await read(file, at, BLOCK_BYTES - (BLOCK_BYTES % stride));
    let i = 0;
    for (; i + stride <= bytes.length; i += stride) {
      if (scan.isLost || bytes[i + lead] !== SYNC_BYTE) {
        scan.lose(at + i);
        const next = findPacket(bytes, i + lead, stride);
        if (next === null) break;
        i = next - lead;
        scan.resume(at + i);
      }
      scan.readPacket(bytes, i + lead, at + i);
    }
    at += scan.isLost ? Math.max(stride, bytes.length - stride * PROBED_PACKETS) : i;
  }
  return { ranges: scan.ranges.filter(({ start, end }) => start < end), lost: scan.lost };
}

/** Returns where packets begin again, null if they don't before the end of the bytes. */
function findPacket(bytes: Uint8Array, from: number, stride: number): number | null {
  for (let at = from; at + stride * PROBED_PACKETS <= bytes.length + stride; at++) {
    let packets = 0;
    while (packets < PROBED_PACKETS && bytes[at + packets * stride] === SYNC_BYTE) packets++;
    if (packets === PROBED_PACKETS) return at;
  }
  return null;
}

/** Ranges of a file, as its packets are read in order. */
class ClockScan {
  readonly ranges: ByteRange[];
  readonly lost: ByteRange[] = [];
  isLost = false;
  readonly #size: number;
  #clock = new Clock();
  /** Offsets of the last table and of the last packet with a time. */
  #tableAt = 0;
  #timeAt = 0;

  constructor(size: number) {
    this.#size = size;
    this.ranges = [{ start: 0, end: size }];
  }

  /** Notes that no packet begins at an offset. */
  lose(at: number): void {
    if (!this.isLost) this.lost.push({ start: at, end: this.#size });
    requireFew(this.lost.length);
    this.isLost = true;
  }

  /** Notes that packets begin again at an offset. */
  resume(at: number): void {
    this.lost.at(-1)!.end = at;
    this.isLost = false;
  }

  #restart(start: number): void {
    this.ranges.at(-1)!.end = start;
    this.ranges.push({ start, end: this.#size });
    requireFew(this.ranges.length);
  }

  /** Reads the packet at `packet` of the bytes, `at` in the file. */
  readPacket(bytes: Uint8Array, packet: number, at: number): void {
    const beginsUnit = bytes[packet + 1]! & 0x40;
    if (!beginsUnit) return;
    const pid = ((bytes[packet + 1]! & 0x1f) << 8) | bytes[packet + 2]!;
    if (pid === 0) this.#tableAt = at;
    const ticks = pid === 0 ? null : readDecodingTime(bytes, packet);
    if (ticks === null) return;
    if (!this.#clock.runsOn(pid, ticks)) {
      // A recording begins with its tables.
      this.#restart(this.#tableAt > this.#timeAt ? this.#tableAt : at);
      this.#clock = new Clock(this.#clock.withoutPrevious());
      this.#clock.runsOn(pid, ticks);
    }
    this.#timeAt = at;
  }
}

/** Decoding times of the streams of one recording. */
class Clock {
  readonly #last = new Map<number, number>();
  #latest: number | null = null;
  #previous: Clock | null;

  /** Packets that belong to the clock before are late, not another restart. */
  constructor(previous: Clock | null = null) {
    this.#previous = previous;
  }

  /** Forgets the clock before: packets aren't later than one restart. */
  withoutPrevious(): this {
    this.#previous = null;
    return this;
  }

  /** Notes a time of a stream unless the clock has started again. */
  runsOn(pid: number, ticks: number): boolean {
    if (!this.#fits(pid, ticks)) {
      return !this.#last.has(pid) && this.#previous !== null && this.#previous.#fits(pid, ticks);
    }
    this.#last.set(pid, ticks);
    if (this.#latest === null || secondsFrom(this.#latest, ticks) > 0) this.#latest = ticks;
    return true;
  }

  #fits(pid: number, ticks: number): boolean {
    if (this.#latest === null) return true;
    const ahead = secondsFrom(this.#latest, ticks);
    const last = this.#last.get(pid);
    const back = last === undefined ? ahead + MAX_AHEAD_SECONDS : secondsFrom(last, ticks);
    return ahead <= MAX_AHEAD_SECONDS && back >= (last === undefined ? 0 : -MAX_BACK_SECONDS);
  }
}

/** Returns the seconds between two times of a clock of 33 bits, negative if `to` is earlier. */
function secondsFrom(from: number, to: number): number {
  const ticks = (to - from + CLOCK_TICKS) % CLOCK_TICKS;
  return (ticks < CLOCK_TICKS / 2 ? ticks : ticks - CLOCK_TICKS) / TICKS_PER_SECOND;
}

/** Returns the decoding time of the PES packet that begins in a packet, null without one. */
function readDecodingTime(bytes: Uint8Array, packet: number): number | null {
  const hasAdaptation = bytes[packet + 3]! & 0x20;
  const hasPayload = bytes[packet + 3]! & 0x10;
  const at = packet + 4 + (hasAdaptation ? 1 + bytes[packet + 4]! : 0);
  if (!hasPayload || at + 19 > packet + PACKET_BYTES) return null;
  const isPes = bytes[at] === 0 && bytes[at + 1] === 0 && bytes[at + 2] === 1;
  if (!isPes || !isMediaStream(bytes[at + 3]!)) return null;
  const flags = bytes[at + 7]! >> 6; // 2: a presentation time; 3: a decoding time after it
  return flags < 2 ? null : readTicks(bytes, at + (flags === 3 ? 14 : 9));
}

/** Reads a time of 33 bits with its marker bits. */
function readTicks(bytes: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = bytes.subarray(at, at + 5);
  return ((a >> 1) & 7) * 2 ** 30 + b * 2 ** 22 + (c >> 1) * 2 ** 15 + d * 2 ** 7 + (e >> 1);
}
