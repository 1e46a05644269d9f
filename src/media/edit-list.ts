/** A piece of a source that is cut in. Times in milliseconds. */
export interface Take {
  /** Of the file, for people. */
  clip: string;
  startMs: number;
  endMs: number;
}

const USUAL_FPS = 25;
/** One hour, where editors have programmes begin. */
const PROGRAMME_START_SECONDS = 3600;
/** Frames a second whose timecode leaves out numbers, and how many a minute (SMPTE ST 12-1). */
const DROPS: [fps: number, dropped: number][] = [
  [30_000 / 1001, 2],
  [60_000 / 1001, 4],
];

/**
 * A CMX3600 edit list: the takes one after the other, hard cuts, from reel AX, picture and, with `hasSound`,
 * sound. `fps` null: 25. At the rates of NTSC the timecode is drop-frame. Columns as in SMPTE 258M.
 */
export function toEditList(
  title: string,
  takes: Take[],
  { fps, hasSound }: { fps: number | null; hasSound: boolean },
): string {
  const clock = new Timecode(fps ?? USUAL_FPS);
  const track = hasSound ? "B" : "V";
  let at = clock.frameAt(PROGRAMME_START_SECONDS);
  const lines = takes.flatMap(({ clip, startMs, endMs }, i) => {
    const from = clock.frameOf(startMs);
    const to = Math.max(from + 1, clock.frameOf(endMs));
    const times = [from, to, at, at + to - from].map((frame) => clock.show(frame)).join(" ");
    at += to - from;
    const number = String(i + 1).padStart(3, "0");
    return [
      `${number}  AX       ${track}     C        ${times}`,
      `* FROM CLIP NAME: ${oneLine(clip)}`,
    ];
  });
  const mode = clock.dropped > 0 ? "DROP FRAME" : "NON-DROP FRAME";
  return [`TITLE: ${oneLine(title).slice(0, 70)}`, `FCM: ${mode}`, "", ...lines, ""].join("\r\n");
}

class Timecode {
  /** Frame numbers left out a minute, but for every tenth. */
  readonly dropped: number;
  readonly #fps: number;
  /** Frame numbers a second. */
  readonly #base: number;

  constructor(fps: number) {
    const [exact, dropped] = DROPS.find(([rate]) => Math.abs(rate - fps) < 0.01) ?? [fps, 0];
    this.#fps = exact;
    this.dropped = dropped;
    this.#base = Math.max(1, Math.round(fps));
  }

  frameOf(ms: number): number {
    return Math.round((ms / 1000) * this.#fps);
  }

  /** The frame that bears this time, a whole number of tens of minutes. */
  frameAt(seconds: number): number {
    const minutes = seconds / 60;
    return seconds * this.#base - this.dropped * (minutes - minutes / 10);
  }

  show(frame: number): string {
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

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]+/g, " ").trim();
}
