import type { MediaReader, TimedFrame } from "./media-reader.ts";

/** Times are often rounded to milliseconds: a frame that starts this soon counts as shown. */
const TOLERANCE = 0.000_5;
/** A gap beyond this is jumped instead of decoded through. Seconds. */
const JUMP = 2;

/** The frames of a video as a viewer sees them: each stays until the next one starts. */
export class ShownFrames {
  readonly #reader: MediaReader;
  #shown: TimedFrame | null = null;
  #next: TimedFrame | null = null;
  #started = false;
  #jump = JUMP;

  constructor(reader: MediaReader) {
    this.#reader = reader;
  }

  /**
   * The frame on screen `seconds` after the start: the first frame before the start, the last one
   * after the end, null where nothing can be decoded. Valid until the next call; not to be freed.
   * Fastest for times that rise.
   */
  async at(seconds: number): Promise<TimedFrame | null> {
    await this.#approach(seconds);
    while (!this.#shown || (this.#next && this.#next.seconds <= seconds + TOLERANCE)) {
      if (!(await this.advance())) break;
    }
    return this.#shown;
  }

  /** When the frame on screen gives way to the next one; null when it is the last. */
  get untilSeconds(): number | null {
    return this.#next?.seconds ?? null;
  }

  /** Moves on to the next frame and returns it; null at the end, where the last one stays. */
  async advance(): Promise<TimedFrame | null> {
    this.#next ??= this.#shown ? null : await this.#reader.next();
    if (!this.#next) return null;
    this.#shown?.frame.free();
    this.#shown = this.#next;
    this.#next = await this.#reader.next();
    return this.#shown;
  }

  close(): void {
    this.#shown?.frame.free();
    this.#next?.frame.free();
    this.#shown = null;
    this.#next = null;
  }

  async #approach(seconds: number): Promise<void> {
    const from = this.#shown?.seconds ?? 0;
    const ahead = seconds > (this.#next?.seconds ?? from) + this.#jump;
    const behind = this.#started && seconds + TOLERANCE < from;
    this.#started = true;
    if (!ahead && !behind) return;
    this.close();
    await this.#reader.seek(seconds);
    this.#next = await this.#reader.next();
    // Keyframes are further apart than the jumps: fewer jumps then save time.
    if (ahead && this.#next && this.#next.seconds <= from) this.#jump *= 2;
  }
}
