/** Frames a second as a fraction: 25/1, 30000/1001. */
export interface FrameRate {
  numerator: number;
  denominator: number;
}

const DEFAULT_FPS = 25;
/** Frame numbers have two digits: rates of three digits count in their largest divisor of these. */
const [MIN_BASE, MAX_BASE] = [24, 60];
const isBase = (base: number) => base >= MIN_BASE && base <= MAX_BASE;
/** Fast films of broadcasting and of the cinema are a thousandth slower than a whole number. */
const NTSC_DENOMINATOR = 1001;
const NTSC_BASES = new Set([24, 30, 48, 60, 120, 240]);
/** How many frame numbers a minute of drop-frame timecode drops, by rate (SMPTE ST 12-1). */
const DROPPED = new Map([
  [30, 2],
  [60, 4],
]);

/**
 * Returns the frame rate of a film: a whole number or NTSC's. A film of another rate, as those of a
 * variable one, counts whole frames of the nearest one by their times.
 */
export function toFrameRate(fps: number | null): FrameRate {
  const rate = fps ?? DEFAULT_FPS;
  const whole = Math.max(1, Math.round(rate));
  const isSlowed = NTSC_BASES.has(whole) && Math.abs(rate * 1.001 - whole) < 0.01;
  return isSlowed
    ? { numerator: whole * 1000, denominator: NTSC_DENOMINATOR }
    : { numerator: whole, denominator: 1 };
}

/** Returns the rate in which timecode counts the frames of a film. */
export function toCountedRate({ numerator, denominator }: FrameRate): FrameRate {
  const whole = Math.round(numerator / denominator);
  const divisors = Array.from({ length: whole }, (_, i) => i + 1).filter((by) => whole % by === 0);
  const divisor = whole < 100 ? 1 : divisors.find((by) => isBase(whole / by));
  return divisor
    ? { numerator: numerator / divisor, denominator }
    : { numerator: DEFAULT_FPS, denominator: 1 };
}

/** Returns a rate as a decimal number: 23.976. */
export function toDecimal({ numerator, denominator }: FrameRate, digits: number): number {
  return Number((numerator / denominator).toFixed(digits));
}

/** Returns the frame of a rate that is nearest to a time. */
export function frameAt(ms: number, { numerator, denominator }: FrameRate): number {
  return Math.round((ms * numerator) / denominator / 1000);
}

/** Converts a number of frames to those of another rate in the same time. */
export function convertFrames(frames: number, from: FrameRate, to: FrameRate): number {
  const ratio = [to.numerator * from.denominator, to.denominator * from.numerator] as const;
  return Math.round((frames * ratio[0]) / ratio[1]);
}

/** Formats frame `frame` of a file, as `10:00:00:00`, or `10:00:00;00` with dropped numbers. */
export function formatTimecode(fps: number, frame: number, isDropFrame: boolean): string {
  return new Timecode(toFrameRate(fps), isDropFrame ? "00:00:00;00" : "00:00:00:00").format(frame);
}

/** The timecode of a file or a programme, which numbers the frames of its rate. */
export class Timecode {
  readonly rate: FrameRate;
  /** The rate in which it counts. */
  readonly counted: FrameRate;
  /** Number of the first frame. */
  readonly start: number;
  /** Whether frame numbers are dropped. */
  readonly mode: "DF" | "NDF";
  /** Frame numbers of a second, and those that each minute drops, except every tenth. */
  readonly #base: number;
  readonly #dropped: number;

  /** `start` is that of the first frame: `;` in it drops frame numbers, at rates that do. */
  constructor(rate: FrameRate, start: string) {
    [this.rate, this.counted] = [rate, toCountedRate(rate)];
    this.#base = toDecimal(this.counted, 0);
    const canDrop = start.includes(";") && this.counted.denominator === NTSC_DENOMINATOR;
    this.#dropped = (canDrop ? DROPPED.get(this.#base) : undefined) ?? 0;
    this.mode = this.#dropped > 0 ? "DF" : "NDF";
    const parts = /^(\d\d):(\d\d):(\d\d)[:;](\d\d)$/.exec(start) ?? [];
    const [, hours = 0, minutes = 0, seconds = 0, frames = 0] = parts.map(Number);
    const total = hours * 60 + minutes;
    const dropped = this.#dropped * (total - Math.floor(total / 10));
    const number = (total * 60 + seconds) * this.#base + frames - dropped;
    this.start = convertFrames(number, this.counted, rate);
  }

  /** Formats the timecode of a frame, from 0 on. */
  at(frame: number): string {
    return this.format(this.start + frame);
  }

  /** Formats the frame of a number in the rate. */
  format(exactFrame: number): string {
    const frame = convertFrames(exactFrame, this.rate, this.counted);
    const perMinute = this.#base * 60 - this.#dropped;
    const perTen = perMinute * 10 + this.#dropped;
    const tens = Math.floor(frame / perTen);
    const minutes = Math.max(0, Math.floor(((frame % perTen) - this.#dropped) / perMinute));
    const number = frame + this.#dropped * (9 * tens + minutes);
    const seconds = Math.floor(number / this.#base);
    const parts = [Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60, seconds % 60];
    const [time, frames] = [parts, [number % this.#base]].map((values) =>
      values.map((value) => String(value).padStart(2, "0")).join(":"),
    );
    return `${time}${this.mode === "DF" ? ";" : ":"}${frames}`;
  }
}
