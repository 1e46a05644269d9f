import { makeBox } from "./mp4-boxes.ts";
import {
  AUDIO_TICKS_PER_MS,
  type Mp4Part,
  type PartTrack,
  unusable,
  VIDEO_TICKS_PER_MS,
} from "./mp4-part.ts";

const MOVIE_TIMESCALE = 1000;

/**
 * Joins parts in order, one `add` each, into the head of an MP4 with its index in front. The
 * payloads of the parts follow it, in the same order. Takes some 20 bytes a sample.
 */
export class Mp4Merger {
  #first: Mp4Part | null = null;
  #payloadBytes = 0;
  readonly #video = new MergedTrack();
  readonly #audio = new MergedTrack();

  /** Throws `upstream_failed` if the piece is coded differently from the first one. */
  add(piece: Mp4Part): void {
    this.#first ??= piece;
    const { video, audio } = this.#first;
    if (!areAlike(video, piece.video) || !areAlike(audio, piece.audio)) {
      throw unusable("is coded differently from the first one");
    }
    const shift = this.#payloadBytes - piece.payload.start;
    if (piece.video) this.#video.add(piece.video, shift);
    if (piece.audio) this.#audio.add(piece.audio, shift);
    this.#payloadBytes += piece.payload.end - piece.payload.start;
  }

  /** Returns the boxes before the payloads. */
  head(): Uint8Array {
    if (!this.#first) throw new Error("There are no parts to join");
    const size = this.#build(0).length;
    return this.#build(size);
  }

  #build(payloadStart: number): Uint8Array {
    const { video, audio, movieHeader } = this.#first!;
    const durationMs = video
      ? this.#video.duration / VIDEO_TICKS_PER_MS
      : this.#audio.duration / AUDIO_TICKS_PER_MS;
    const tracks: Uint8Array[] = [];
    if (video) tracks.push(this.#video.build(video, durationMs, payloadStart));
    if (audio) tracks.push(this.#audio.build(audio, durationMs, payloadStart));
    const mdat = Buffer.alloc(16);
    mdat.writeUInt32BE(1, 0);
    mdat.write("mdat", 4, "latin1");
    mdat.writeBigUInt64BE(BigInt(this.#payloadBytes + 16), 8);
    return Buffer.concat([
      makeBox("ftyp", Buffer.from("isom\0\0\x02\0isomiso2avc1mp41", "latin1")),
      makeBox("moov", patch(movieHeader, 24, durationMs, MOVIE_TIMESCALE, 20), ...tracks),
      mdat,
    ]);
  }
}

/** Copies a box with another duration, and with another timescale if one is given. */
function patch(box: Uint8Array, at: number, duration: number, timescale = 0, scaleAt = 0): Buffer {
  const copy = Buffer.from(box);
  if (copy[8] !== 0) throw unusable("has long times");
  if (timescale > 0) copy.writeUInt32BE(timescale, scaleAt);
  copy.writeUInt32BE(Math.round(duration), at);
  return copy;
}

/** A growing list of 32-bit numbers. */
class Numbers {
  #values = new Uint32Array(4096);
  length = 0;

  push(value: number): void {
    if (this.length === this.#values.length) {
      const grown = new Uint32Array(this.length * 2);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.length++] = value;
  }

  toBytes(): Buffer {
    const bytes = Buffer.from(this.#values.slice(0, this.length).buffer);
    return bytes.swap32();
  }
}

class MergedTrack {
  duration = 0;
  #sampleCount = 0;
  #runDuration = 0;
  #runLength = 0;
  #hasKeys = false;
  readonly #sizes = new Numbers();
  readonly #runs = new Numbers();
  readonly #keys = new Numbers();
  readonly #chunkRuns = new Numbers();
  readonly #offsets: number[] = [];
  #lastCount = 0;

  add({ sizes, durations, keys, chunks }: PartTrack, shift: number): void {
    for (const size of sizes) this.#sizes.push(size);
    for (const duration of durations) this.#addDuration(duration);
    this.#hasKeys ||= keys !== null;
    for (const key of keys ?? []) this.#keys.push(this.#sampleCount + key + 1);
    for (const { offset, sampleCount } of chunks) {
      this.#offsets.push(offset + shift);
      if (sampleCount === this.#lastCount) continue;
      for (const value of [this.#offsets.length, sampleCount, 1]) this.#chunkRuns.push(value);
      this.#lastCount = sampleCount;
    }
    this.#sampleCount += sizes.length;
  }

  #addDuration(duration: number): void {
    this.duration += duration;
    if (duration !== this.#runDuration) this.#endRun();
    this.#runDuration = duration;
    this.#runLength++;
  }

  #endRun(): void {
    if (this.#runLength === 0) return;
    this.#runs.push(this.#runLength);
    this.#runs.push(this.#runDuration);
    this.#runLength = 0;
  }

  build(first: PartTrack, durationMs: number, payloadStart: number): Uint8Array {
    this.#endRun();
    const { tkhd, mdhd, hdlr, mhd, dinf, stsd } = first.boxes;
    const offsets = Buffer.alloc(this.#offsets.length * 8);
    for (const [i, offset] of this.#offsets.entries()) {
      offsets.writeBigUInt64BE(BigInt(offset + payloadStart), i * 8);
    }
    const runs = this.#runs;
    const samples = makeBox(
      "stbl",
      stsd,
      makeBox("stts", [0, runs.length / 2], runs.toBytes()),
      ...(this.#hasKeys ? [makeBox("stss", [0, this.#keys.length], this.#keys.toBytes())] : []),
      makeBox("stsc", [0, this.#chunkRuns.length / 3], this.#chunkRuns.toBytes()),
      makeBox("stsz", [0, 0, this.#sampleCount], this.#sizes.toBytes()),
      makeBox("co64", [0, this.#offsets.length], offsets),
    );
    const media = makeBox("minf", mhd, dinf, samples);
    return makeBox(
      "trak",
      patch(tkhd, 28, durationMs),
      makeBox("mdia", patch(mdhd, 24, this.duration), hdlr, media),
    );
  }
}

/** Whether tracks of two parts can be joined; without a track in both, they can. */
function areAlike(first: PartTrack | null, other: PartTrack | null): boolean {
  if (!first || !other) return first === other;
  return Buffer.from(first.config).equals(other.config);
}
