import type { TimeRangeMs } from "../time-range.ts";

/** A time range of a source that the edit takes. */
export interface EdlEvent extends TimeRangeMs {
  /** Name of the source file, for people. */
  clip: string;
  /** Frame rate of the source; null stands for 25. */
  fps: number | null;
  hasAudio: boolean;
}

const DEFAULT_FPS = 25;
/** One hour, where editors have programmes begin. */
const PROGRAMME_START_SECONDS = 3600;
/** Frame rates of drop-frame timecode and how many frame numbers a minute drops (SMPTE ST 12-1). */
const DROP_FRAME_RATES: [fps: number, dropped: number][] = [
  [30_000 / 1001, 2],
  [60_000 / 1001, 4],
];

/**
 * Formats a CMX3600 edit decision list: the events one after the other, hard cuts, from reel AX,
 * video and, where the source has it, audio. Programme times count in `fps`, by default the first
 * event's rate; a comment names the rate of each other source. The timecode is drop-frame at NTSC's
 * rates. Columns follow SMPTE 258M.
 */
export function formatEdl(
  title: string,
  events: EdlEvent[],
  fps: number | null = events[0]?.fps ?? null,
): string {
  const programme = new Timecode(fps);
  let recordIn = programme.frameAt(PROGRAMME_START_SECONDS);
  const lines = events.flatMap(({ clip, startMs, endMs, hasAudio, ...event }, i) => {
    const source = new Timecode(event.fps);
    const sourceIn = source.toFrame(startMs);
    const sourceOut = Math.max(sourceIn + 1, source.toFrame(endMs));
    const frames = Math.round(((sourceOut - sourceIn) * programme.fps) / source.fps);
    const recordOut = recordIn + Math.max(1, frames);
    const times = [
      ...[sourceIn, sourceOut].map((frame) => source.format(frame)),
      ...[recordIn, recordOut].map((frame) => programme.format(frame)),
    ].join(" ");
    recordIn = recordOut;
    const number = String(i + 1).padStart(3, "0");
    const hasOtherRate = source.fps !== programme.fps;
    return [
      `${number}  AX       ${hasAudio ? "B" : "V"}     C        ${times}`,
      `* FROM CLIP NAME: ${toOneLine(clip)}`,
      ...(hasOtherRate ? [`* SOURCE FRAME RATE: ${Number(source.fps.toFixed(3))}`] : []),
    ];
  });
  const mode = programme.dropped > 0 ? "DROP FRAME" : "NON-DROP FRAME";
  return [`TITLE: ${toOneLine(title).slice(0, 70)}`, `FCM: ${mode}`, "", ...lines, ""].join("\r\n");
}

class Timecode {
  readonly fps: number;
  /** Frame numbers that each minute drops, except every tenth. */
  readonly dropped: number;
  /** Frame numbers of a second. */
  readonly #base: number;

  constructor(fps: number | null) {
    const rate = fps ?? DEFAULT_FPS;
    const isRate = ([one]: [number, number]) => Math.abs(one - rate) < 0.01;
    [this.fps, this.dropped] = DROP_FRAME_RATES.find(isRate) ?? [rate, 0];
    this.#base = Math.max(1, Math.round(rate));
  }

  toFrame(ms: number): number {
    return Math.round((ms / 1000) * this.fps);
  }

  /** Returns the frame with this timecode, which must be a whole number of tens of minutes. */
  frameAt(seconds: number): number {
    const minutes = seconds / 60;
    return seconds * this.#base - this.dropped * (minutes - minutes / 10);
  }

  format(frame: number): string {
    const perMinute = this.#base * 60 - this.dropped;
    const perTen = perMinute * 10 + this.dropped;
    const tens = Math.floor(frame / perTen);
    const minutes = Math.max(0, Math.floor(((frame % perTen) - this.dropped) / perMinute));
    const number = frame + this.dropped * (9 * tens + minutes);
    const seconds = Math.floor(number / this.#base);
    const parts = [Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60, seconds % 60];
    const separator = this.dropped > 0 ? ";" : ":";
    return `${parts.map(twoDigits).join(":")}${separator}${twoDigits(number % this.#base)}`;
  }
}

function twoDigits(number: number): string {
  return String(number).padStart(2, "0");
}

function toOneLine(text: string): string {
  return text.replaceAll(/[\r\n]+/g, " ").trim();
}
