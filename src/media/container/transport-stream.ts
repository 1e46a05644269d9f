import type { RangedFile } from "./mp4-boxes.ts";

/** Bytes of an MPEG-TS whose clock runs on, from `start` to `end` (offsets). */
export interface ClockRange {
  kind: "bytes";
  start: number;
  end: number;
  /** Whether it has the clock of the range before: bytes between them are missing. */
  continuesClock: boolean;
}

const SYNC_BYTE = 0x47;
const PACKET_BYTES = 188;
/** Bytes from one packet to the next, and those before its sync byte: plain, M2TS, with FEC. */
const LAYOUTS = [
  { stride: 188, lead: 0 },
  { stride: 192, lead: 4 },
  { stride: 204, lead: 0 },
];
/** Packets that must begin with a sync byte. */
const PROBED_PACKETS = 3;
const PACKETS_PER_READ = 16_384;
/** Ticks of the clock in a second, and of its 33 bits (ISO/IEC 13818-1, 2.4.3.7). */
const TICKS_PER_SECOND = 90_000;
const CLOCK_TICKS = 2 ** 33;
/** Decoding times of a stream rise. Further back than this, the clock has started again. */
const MAX_BACK_SECONDS = 0.5;
/** Further ahead of every stream than this, another recording begins: FFmpeg's threshold, too. */
const MAX_AHEAD_SECONDS = 10;
/** Stream ids of audio and video (table 2-22), and the private one that also carries audio. */
const isMediaStream = (id: number) => (id >= 0xc0 && id <= 0xef) || id === 0xbd || id === 0xfd;

/**
 * Finds the ranges of an MPEG-TS in which the clock runs on. Joined recordings and encoders that
 * were restarted have several. A clock that overflows runs on. Reads the whole file, once. Returns
 * null for other files.
 */
export async function findClocks(file: RangedFile): Promise<ClockRange[] | null> {
  const head = await file.read(0, PACKET_BYTES * 4);
  const layout = LAYOUTS.find(({ stride, lead }) =>
    Array.from({ length: PROBED_PACKETS }, (_, i) => head[lead + i * stride]).every(
      (byte) => byte === SYNC_BYTE,
    ),
  );
  if (!layout) return null;
  const { stride, lead } = layout;
  const scan = new ClockScan(file.size);
  for (let at = 0; at + stride <= file.size;) {
    const bytes = await file.read(at, Math.min(file.size, at + stride * PACKETS_PER_READ));
    let i = 0;
    for (; i + stride <= bytes.length; i += stride) {
      if (scan.isLost || bytes[i + lead] !== SYNC_BYTE) {
        scan.lose(at + i);
        const next = findPacket(bytes, i + lead, stride);
        if (next === null) break;
        i = next - lead;
        scan.begin(at + i, true);
      }
      scan.readPacket(bytes, i + lead, at + i);
    }
    at += scan.isLost ? Math.max(stride, bytes.length - stride * PROBED_PACKETS) : i;
  }
  return scan.ranges.filter(({ start, end }) => start < end);
}

/** Returns where packets begin again, null if they don't before the end of the bytes. */
function findPacket(bytes: Uint8Array, from: number, stride: number): number | null {
  for (let at = from; at + stride * PROBED_PACKETS <= bytes.length + stride; at++) {
    const heads = Array.from({ length: PROBED_PACKETS }, (_, i) => bytes[at + i * stride]);
    if (heads.every((byte) => byte === SYNC_BYTE)) return at;
  }
  return null;
}

/** Ranges of a file, as its packets are read in order. */
class ClockScan {
  readonly ranges: ClockRange[] = [];
  isLost = false;
  readonly #size: number;
  #clock = new Clock();
  /** Offsets of the last table and of the last packet with a time. */
  #tableAt = 0;
  #timeAt = 0;

  constructor(size: number) {
    this.#size = size;
    this.begin(0, false);
  }

  /** Begins a range at an offset, which ends the one before. */
  begin(start: number, continuesClock: boolean): void {
    if (!this.isLost) this.#end(start);
    this.ranges.push({ kind: "bytes", start, end: this.#size, continuesClock });
    this.isLost = false;
  }

  /** Ends the range where no packet begins at an offset. */
  lose(at: number): void {
    if (!this.isLost) this.#end(at);
    this.isLost = true;
  }

  #end(end: number): void {
    const last = this.ranges.at(-1);
    if (last) last.end = end;
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
      this.begin(this.#tableAt > this.#timeAt ? this.#tableAt : at, false);
      this.#clock = new Clock(this.#clock);
      this.#clock.runsOn(pid, ticks);
    }
    this.#timeAt = at;
  }
}

/** Decoding times of the streams of one recording. */
class Clock {
  readonly #last = new Map<number, number>();
  #latest: number | null = null;
  readonly #previous: Clock | null;

  /** Packets that belong to the clock before are late, not another restart. */
  constructor(previous: Clock | null = null) {
    this.#previous = previous;
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
