import { setImmediate } from "node:timers/promises";
import { AV_NOPTS_VALUE, AVERROR_EAGAIN, AVSEEK_FLAG_BACKWARD } from "node-av/constants";
import { Codec, CodecContext, Dictionary, Frame, Packet, type Stream } from "node-av/lib";
import { EngineError } from "./errors.ts";
import { DECODER_BOUNDS, type MediaSource, toSeconds } from "./media-source.ts";

/** A decoded frame; its owner has to free it. */
export interface TimedFrame {
  frame: Frame;
  /** Presentation time from the source's origin. */
  seconds: number;
}

/** Seconds before a time at which a keyframe is searched, in turn; the last resort is the start. */
const SEEK_BACK_SECONDS = [0, 2, 10, 60];

/**
 * Decodes one stream of a source and is its only reader. Damaged packets are skipped. Only decoding
 * runs on another thread; for the shorter calls the hand-over would cost more than the work.
 */
export class MediaReader {
  readonly #source: MediaSource;
  readonly #stream: Stream;
  readonly #decoder: CodecContext;
  readonly #packet = new Packet();
  /** A frame that `seek` has decoded and `next` returns first. */
  #pending: TimedFrame | null = null;
  #needsKeyframe = false;
  #drained = false;
  #lastSeconds = -Infinity;

  private constructor(source: MediaSource, stream: Stream, decoder: CodecContext) {
    this.#source = source;
    this.#stream = stream;
    this.#decoder = decoder;
    this.#packet.alloc();
  }

  /** Opens a decoder. Errors: `undecodable_media` if there is none for the stream. */
  static async open(source: MediaSource, stream: Stream): Promise<MediaReader> {
    const codec = Codec.findDecoder(stream.codecpar.codecId);
    if (!codec) throw new EngineError("undecodable_media", "There is no decoder for this codec.");
    const decoder = new CodecContext();
    decoder.allocContext3(codec);
    const copied = decoder.parametersToContext(stream.codecpar);
    decoder.pktTimebase = stream.timeBase;
    decoder.threadCount = 1;
    using options = Dictionary.fromObject(DECODER_BOUNDS);
    if (copied < 0 || (await decoder.open2(codec, options)) < 0) {
      decoder.freeContext();
      throw new EngineError("undecodable_media", "The decoder rejects this stream.");
    }
    return new MediaReader(source, stream, decoder);
  }

  /** Returns the next frame in presentation order; null at the end. */
  async next(): Promise<TimedFrame | null> {
    const pending = this.#pending;
    if (!pending) return this.#decode();
    this.#pending = null;
    return pending;
  }

  /**
   * Seeks to a frame from which the frame at `seconds` can be decoded: a keyframe at or before it,
   * or the first frame of the file.
   */
  async seek(seconds: number): Promise<void> {
    for (const back of SEEK_BACK_SECONDS) {
      if (seconds - back <= 0) break;
      if (!(await this.#seekTo(seconds - back, true))) continue;
      const first = await this.#decode();
      if (first && first.seconds <= seconds) {
        this.#pending = first;
        return;
      }
      first?.frame.free();
    }
    await this.#seekTo(0, false);
  }

  close(): void {
    this.#pending?.frame.free();
    this.#pending = null;
    this.#packet.free();
    this.#decoder.freeContext();
  }

  async #seekTo(seconds: number, needsKeyframe: boolean): Promise<boolean> {
    this.#pending?.frame.free();
    this.#pending = null;
    const { num, den } = this.#stream.timeBase;
    const at = BigInt(Math.floor(((this.#source.originSeconds + seconds) * den) / num + 1e-6));
    const code = await this.#source.context.seekFrame(this.#stream.index, at, AVSEEK_FLAG_BACKWARD);
    if (code < 0) return false;
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
      const received = this.#decoder.receiveFrameSync(frame);
      if (received >= 0) return { frame, seconds: this.#time(frame) };
      if (received !== AVERROR_EAGAIN || this.#drained) break;
      await this.#feed();
    }
    frame.free();
    return null;
  }

  /** Sends the stream's next packet, or the end of the stream, to the decoder. */
  async #feed(): Promise<void> {
    for (;;) {
      const read = this.#source.context.readFrameSync(this.#packet);
      if (read === AVERROR_EAGAIN) {
        await setImmediate(); // lets other tasks run
        continue;
      }
      if (read < 0) {
        this.#drained = true;
        await this.#decoder.sendPacket(null);
        return;
      }
      const isSelected = this.#packet.streamIndex === this.#stream.index;
      if (isSelected && this.#packet.isKeyframe) this.#needsKeyframe = false;
      if (isSelected && !this.#needsKeyframe) await this.#decoder.sendPacket(this.#packet);
      this.#packet.unref();
      if (isSelected) return;
    }
  }

  /** Returns a frame's time; without a timestamp, one frame after the previous one. */
  #time(frame: Frame): number {
    const pts =
      frame.bestEffortTimestamp === AV_NOPTS_VALUE ? frame.pts : frame.bestEffortTimestamp;
    const rate = this.#stream.avgFrameRate;
    const step = rate.num > 0 ? rate.den / rate.num : 0.04;
    const guess = Number.isFinite(this.#lastSeconds) ? this.#lastSeconds + step : 0;
    this.#lastSeconds =
      pts === AV_NOPTS_VALUE ? guess : toSeconds(pts, this.#stream) - this.#source.originSeconds;
    return this.#lastSeconds;
  }
}
