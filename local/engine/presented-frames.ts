import type { MediaReader, TimedFrame } from "./media-reader.ts";

/** Seconds. Times are often rounded to milliseconds: a frame that starts this soon is presented. */
const TOLERANCE_SECONDS = 0.000_5;
/** Seconds ahead from which seeking replaces decoding all frames between. */
const MIN_SEEK_SECONDS = 2;

/** Frames of a video as presented: each stays on screen until the next one starts. */
export class PresentedFrames {
  readonly #reader: MediaReader;
  #current: TimedFrame | null = null;
  #next: TimedFrame | null = null;
  #hasStarted = false;
  #minSeekSeconds = MIN_SEEK_SECONDS;

  constructor(reader: MediaReader) {
    this.#reader = reader;
  }

  /**
   * Returns the frame on screen `seconds` after the start: the first frame before the start, the
   * last one after the end, null if no frame can be decoded. It is valid until the next call and
   * must not be freed. Ascending times are fastest.
   */
  async at(seconds: number): Promise<TimedFrame | null> {
    await this.#seekNear(seconds);
    while (!this.#current || (this.#next && this.#next.seconds <= seconds + TOLERANCE_SECONDS)) {
      if (!(await this.advance())) break;
    }
    return this.#current;
  }

  /** Time at which the next frame replaces the current one; null for the last. */
  get untilSeconds(): number | null {
    return this.#next?.seconds ?? null;
  }

  /** Advances to the next frame and returns it; null at the end, where the last one stays. */
  async advance(): Promise<TimedFrame | null> {
    this.#next ??= this.#current ? null : await this.#reader.next();
    if (!this.#next) return null;
    this.#current?.frame.free();
    this.#current = this.#next;
    this.#next = await this.#reader.next();
    return this.#current;
  }

  close(): void {
    this.#current?.frame.free();
    this.#next?.frame.free();
    this.#current = null;
    this.#next = null;
  }

  async #seekNear(seconds: number): Promise<void> {
    const from = this.#current?.seconds ?? 0;
    const isAhead = seconds > (this.#next?.seconds ?? from) + this.#minSeekSeconds;
    const isBehind = this.#hasStarted && seconds + TOLERANCE_SECONDS < from;
    this.#hasStarted = true;
    if (!isAhead && !isBehind) return;
    this.close();
    await this.#reader.seek(seconds);
    this.#next = await this.#reader.next();
    // The seek went back: keyframes are further apart than this, so seek less often.
    if (isAhead && this.#next && this.#next.seconds <= from) this.#minSeekSeconds *= 2;
  }
}
