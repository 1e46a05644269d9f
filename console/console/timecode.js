const DEFAULT_FPS = 25;
/** Frame rates of drop-frame timecode, and the frame numbers a minute drops (SMPTE ST 12-1). */
const DROP_FRAME_RATES = [
  [30_000 / 1001, 2],
  [60_000 / 1001, 4],
];

/** Timecode of a frame rate; `fps` null stands for 25. It is drop-frame at NTSC's rates. */
export class Timecode {
  constructor(fps) {
    const rate = fps ?? DEFAULT_FPS;
    const [exactFps, dropped] = DROP_FRAME_RATES.find(([one]) => Math.abs(one - rate) < 0.01) ?? [
      rate,
      0,
    ];
    this.fps = exactFps;
    /** Frame numbers that each minute drops, except every tenth. */
    this.dropped = dropped;
    /** Frame numbers of a second. */
    this.base = Math.max(1, Math.round(rate));
  }

  /** Returns the number of the frame at a time in seconds. */
  toFrame(seconds) {
    return Math.round(seconds * this.fps);
  }

  /** Returns the frame with this timecode, which must be a whole number of tens of minutes. */
  frameAt(seconds) {
    const minutes = seconds / 60;
    return seconds * this.base - this.dropped * (minutes - minutes / 10);
  }

  /** Formats a frame as `hh:mm:ss:ff`; drop-frame timecode has a semicolon before the frames. */
  format(frame) {
    const perMinute = this.base * 60 - this.dropped;
    const perTen = perMinute * 10 + this.dropped;
    const tens = Math.floor(frame / perTen);
    const minutes = Math.max(0, Math.floor(((frame % perTen) - this.dropped) / perMinute));
    const number = frame + this.dropped * (9 * tens + minutes);
    const seconds = Math.floor(number / this.base);
    const parts = [Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60, seconds % 60];
    const separator = this.dropped > 0 ? ";" : ":";
    return `${parts.map(twoDigits).join(":")}${separator}${twoDigits(number % this.base)}`;
  }
}

function twoDigits(number) {
  return String(number).padStart(2, "0");
}
