import { FilterAPI } from "node-av/api";
import { type Frame, Rational } from "node-av/lib";
import { EngineError } from "./errors.ts";
import { MediaReader } from "./media-reader.ts";
import { openMedia } from "./media-source.ts";
import type { Track } from "./media-track.ts";

/** Samples per second. */
export const SAMPLE_RATE = 16_000;

const MAX_SECONDS = 600;
/** Seconds. Containers round timestamps: a frame that is off by less follows the one before it. */
const MAX_DRIFT_SECONDS = 0.1;

/**
 * Decodes a file's audio to mono samples at `SAMPLE_RATE`, from the file's time zero. Gaps and
 * undecodable parts become silence, so that the rest keeps its times. Errors: `undecodable_media`,
 * `no_audio`, `too_large` beyond ten minutes.
 */
export async function readAudio(path: string): Promise<Float32Array<ArrayBuffer>> {
  const source = await openMedia(path);
  try {
    if (!source.audio) throw new EngineError("no_audio", "The file has no audio.");
    const reader = await MediaReader.open(source, source.audio);
    using filter = FilterAPI.create(
      `aresample=${SAMPLE_RATE},aformat=sample_fmts=flt:channel_layouts=stereo`,
    );
    const bytes = new ArrayBuffer(0, { maxByteLength: MAX_SECONDS * SAMPLE_RATE * 4 });
    let end = 0;
    try {
      for await (const frame of filter.frames(listAudioFrames(reader))) {
        if (!frame) continue;
        const start = getStartSample(frame);
        if (Math.abs(start - end) > MAX_DRIFT_SECONDS * SAMPLE_RATE) end = start;
        end = writeFrame(frame, bytes, end);
        frame.free();
      }
    } finally {
      reader.close();
    }
    if (bytes.byteLength > 0) return new Float32Array(bytes.slice());
    throw new EngineError("undecodable_media", "The audio can't be decoded.");
  } finally {
    await source.close();
  }
}

/** Yields the frames of an audio stream, timed in its samples from the origin, then null. */
export async function* listAudioFrames(reader: MediaReader): Track {
  for (let next = await reader.next(); next; next = await reader.next()) {
    const { frame, seconds } = next;
    frame.timeBase = new Rational(1, frame.sampleRate);
    frame.pts = BigInt(Math.round(seconds * frame.sampleRate));
    yield frame;
  }
  yield null;
}

function getStartSample({ pts, timeBase }: Frame): number {
  return Math.round((Number(pts) * timeBase.num * SAMPLE_RATE) / timeBase.den);
}

/** Share of the power of a channel below which the mean of both has lost what is heard. */
const MIN_POWER = 0.01;

/** Mixes the two interleaved channels of a frame. If they cancel each other, takes the first. */
function toMono(frame: Frame): Float32Array<ArrayBuffer> {
  const { buffer, byteOffset } = frame.toBuffer();
  const stereo = new Float32Array(buffer, byteOffset, 2 * frame.nbSamples);
  const [mean, left] = [new Float32Array(frame.nbSamples), new Float32Array(frame.nbSamples)];
  let [meanPower, leftPower] = [0, 0];
  for (let i = 0; i < frame.nbSamples; i++) {
    left[i] = stereo[2 * i]!;
    mean[i] = (left[i]! + stereo[2 * i + 1]!) / 2;
    meanPower += mean[i]! ** 2;
    leftPower += left[i]! ** 2;
  }
  return meanPower < MIN_POWER * leftPower ? left : mean;
}

/** Writes a frame at sample `start`, which may be negative; returns the index after its end. */
function writeFrame(frame: Frame, bytes: ArrayBuffer, start: number): number {
  const samples = new Uint8Array(toMono(frame).buffer);
  const end = start + frame.nbSamples;
  if (end * 4 > bytes.maxByteLength) {
    throw new EngineError(
      "too_large",
      `At most ${MAX_SECONDS / 60} minutes of audio are accepted.`,
    );
  }
  if (end * 4 > bytes.byteLength) bytes.resize(end * 4);
  const from = Math.max(0, -start);
  if (from < frame.nbSamples) {
    new Uint8Array(bytes).set(samples.subarray(from * 4), (start + from) * 4);
  }
  return end;
}
