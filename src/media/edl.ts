import type { TimeRangeMs } from "../time-range.ts";

/** A time range of a source that the edit takes. */
export interface EdlEvent extends TimeRangeMs {
  /** Name of the source file, for people. */
  clip: string;
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
 * video and, with `hasAudio`, audio. `fps` null stands for 25. The timecode is drop-frame at NTSC's
 * rates. Columns follow SMPTE 258M.
 */
export function formatEdl(
  title: string,
  events: EdlEvent[],
  { fps, hasAudio }: { fps: number | null; hasAudio: boolean },
): string {
  const timecode = new Timecode(fps ?? DEFAULT_FPS);
  const track = hasAudio ? "B" : "V";
  let recordIn = timecode.frameAt(PROGRAMME_START_SECONDS);
  const lines = events.flatMap(({ clip, startMs, endMs }, i) => {
    const sourceIn = timecode.toFrame(startMs);
    const sourceOut = Math.max(sourceIn + 1, timecode.toFrame(endMs));
    const recordOut = recordIn + sourceOut - sourceIn;
    const times = [sourceIn, sourceOut, recordIn, recordOut]
      .map((frame) => timecode.format(frame))
      .join(" ");
    recordIn = recordOut;
    const number = String(i + 1).padStart(3, "0");
    return [
      `${number}  AX       ${track}     C        ${times}`,
      `* FROM CLIP NAME: ${toOneLine(clip)}`,
    ];
  });
  const mode = timecode.dropped > 0 ? "DROP FRAME" : "NON-DROP FRAME";
  return [`TITLE: ${toOneLine(title).slice(0, 70)}`, `FCM: ${mode}`, "", ...lines, ""].join("\r\n");
}

class Timecode {
  /** Frame numbers that each minute drops, except every tenth. */
  readonly dropped: number;
  readonly #fps: number;
  /** Frame numbers of a second. */
  readonly #base: number;

  constructor(fps: number) {
    const [exactFps, dropped] = DROP_FRAME_RATES.find(([rate]) => Math.abs(rate - fps) < 0.01) ?? [
      fps,
      0,
    ];
    this.#fps = exactFps;
    this.dropped = dropped;
    this.#base = Math.max(1, Math.round(fps));
  }

  toFrame(ms: number): number {
    return Math.round((ms / 1000) * this.#fps);
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
