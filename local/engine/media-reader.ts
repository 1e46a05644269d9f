import { setImmediate } from "node:timers/promises";
import { AV_NOPTS_VALUE, AVERROR_EAGAIN, AVSEEK_FLAG_BACKWARD } from "node-av/constants";
import { Codec, CodecContext, Frame, Packet, type Stream } from "node-av/lib";
import { EngineError } from "./errors.ts";
import { type MediaSource, toSeconds } from "./media-source.ts";

/** A decoded frame; whoever holds it frees it. */
export interface TimedFrame {
  frame: Frame;
  /** From the source's origin. */
  seconds: number;
}

/** Where to look for the keyframe before a time, in seconds before it; then the very start. */
const STEPS_BACK = [0, 2, 10, 60];

/**
 * Decodes one stream of a source, whose only reader it is. Damaged packets are skipped. Only what takes long,
 * decoding a packet, is done on another thread, since the way there and back costs more than the rest.
 */
export class MediaReader {
  readonly #source: MediaSource;
  readonly #stream: Stream;
  readonly #decoder: CodecContext;
  readonly #signal: AbortSignal;
  readonly #packet = new Packet();
  /** Frames before this one's place in the file have not been read. */
  #pending: TimedFrame | null = null;
  #needsKeyframe = false;
  #drained = false;
  #lastSeconds = -Infinity;

  private constructor(
    source: MediaSource,
    stream: Stream,
    decoder: CodecContext,
    signal: AbortSignal,
  ) {
    this.#source = source;
    this.#stream = stream;
    this.#decoder = decoder;
    this.#signal = signal;
    this.#packet.alloc();
  }

  /** Errors: `undecodable_media` when there is no decoder for the stream. */
  static async open(
    source: MediaSource,
    stream: Stream,
    signal: AbortSignal,
  ): Promise<MediaReader> {
    const codec = Codec.findDecoder(stream.codecpar.codecId);
    if (!codec) throw new EngineError("undecodable_media", "There is no decoder for this codec.");
    const decoder = new CodecContext();
    decoder.allocContext3(codec);
    const copied = decoder.parametersToContext(stream.codecpar);
    decoder.pktTimebase = stream.timeBase;
    decoder.threadCount = 1;
    if (copied < 0 || (await decoder.open2(codec)) < 0) {
      decoder.freeContext();
      throw new EngineError("undecodable_media", "The decoder refuses this stream.");
    }
    return new MediaReader(source, stream, decoder, signal);
  }

  /** The next frame in order of presentation; null at the end. Aborts with the signal. */
  async next(): Promise<TimedFrame | null> {
    const pending = this.#pending;
    if (!pending) return this.#decode();
    this.#pending = null;
    return pending;
  }

  /**
   * Makes `next` start at a frame from which everything shown at `seconds` can be decoded: a
   * keyframe at or before it, or the first frame there is.
   */
  async seek(seconds: number): Promise<void> {
    for (const back of STEPS_BACK) {
      if (seconds - back <= 0) break;
      if (!(await this.#jump(seconds - back, true))) continue;
      const first = await this.#decode();
      if (first && first.seconds <= seconds) {
        this.#pending = first;
        return;
      }
      first?.frame.free();
    }
    await this.#jump(0, false);
  }

  close(): void {
    this.#pending?.frame.free();
    this.#pending = null;
    this.#packet.free();
    this.#decoder.freeContext();
  }

  async #jump(seconds: number, needsKeyframe: boolean): Promise<boolean> {
    this.#signal.throwIfAborted();
    this.#pending?.frame.free();
    this.#pending = null;
    const { num, den } = this.#stream.timeBase;
    const at = BigInt(Math.floor(((this.#source.originSeconds + seconds) * den) / num + 1e-6));
    const sought = await this.#source.context.seekFrame(
      this.#stream.index,
      at,
      AVSEEK_FLAG_BACKWARD,
    );
    if (sought < 0) return false;
    this.#decoder.flushBuffers();
    this.#needsKeyframe = needsKeyframe;
    this.#drained = false;
    this.#lastSeconds = -Infinity;
    return true;
  }

  async #decode(): Promise<TimedFrame | null> {
    const frame = new Frame();
    frame.alloc();
    for (;;) {
      this.#signal.throwIfAborted();
      const received = this.#decoder.receiveFrameSync(frame);
      if (received >= 0) return { frame, seconds: this.#time(frame) };
      if (received !== AVERROR_EAGAIN || this.#drained) break;
      await this.#feed();
    }
    frame.free();
    return null;
  }

  /** Sends the stream's next packet to the decoder, or the end. */
  async #feed(): Promise<void> {
    for (;;) {
      this.#signal.throwIfAborted();
      const read = this.#source.context.readFrameSync(this.#packet);
      if (read === AVERROR_EAGAIN) {
        await setImmediate(); // others get their turn
        continue;
      }
      if (read < 0) {
        this.#drained = true;
        await this.#decoder.sendPacket(null);
        return;
      }
      const ours = this.#packet.streamIndex === this.#stream.index;
      if (ours && this.#packet.isKeyframe) this.#needsKeyframe = false;
      if (ours && !this.#needsKeyframe) await this.#decoder.sendPacket(this.#packet);
      this.#packet.unref();
      if (ours) return;
    }
  }

  /** A frame without a time comes right after the one before it. */
  #time(frame: Frame): number {
    const pts =
      frame.bestEffortTimestamp === AV_NOPTS_VALUE ? frame.pts : frame.bestEffortTimestamp;
    const rate = this.#stream.avgFrameRate;
    const step = rate.num > 0 ? rate.den / rate.num : 0.04;
    const unknown = Number.isFinite(this.#lastSeconds) ? this.#lastSeconds + step : 0;
    this.#lastSeconds =
      pts === AV_NOPTS_VALUE ? unknown : toSeconds(pts, this.#stream) - this.#source.originSeconds;
    return this.#lastSeconds;
  }
}
