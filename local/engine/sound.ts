import { FilterAPI } from "node-av/api";
import { type Frame, Rational } from "node-av/lib";
import { EngineError } from "./errors.ts";
import { MediaReader } from "./media-reader.ts";
import { openMedia } from "./media-source.ts";
import type { Track } from "./media-track.ts";

/** Samples a second. */
export const SOUND_RATE = 16_000;

const MAX_SECONDS = 600;
/** Containers round their times; what is off by less than this many seconds follows on. */
const MAX_DRIFT = 0.1;

/**
 * The sound of a file, mono, at `SOUND_RATE`, from the zero of the file's times. What is missing or
 * can't be decoded is silence, so that all else keeps its time. Errors: `undecodable_media`,
 * `no_audio`, `too_large` beyond ten minutes.
 */
export async function readSound(
  path: string,
  signal: AbortSignal,
): Promise<Float32Array<ArrayBuffer>> {
  const source = await openMedia(path);
  try {
    if (!source.audio) throw new EngineError("no_audio", "The file has no sound.");
    const reader = await MediaReader.open(source, source.audio, signal);
    using filter = FilterAPI.create(
      `aresample=${SOUND_RATE},aformat=sample_fmts=flt:channel_layouts=mono`,
    );
    const bytes = new ArrayBuffer(0, { maxByteLength: MAX_SECONDS * SOUND_RATE * 4 });
    let end = 0;
    try {
      for await (const frame of filter.frames(listSound(reader))) {
        if (!frame) continue;
        const start = toSamples(frame);
        if (Math.abs(start - end) > MAX_DRIFT * SOUND_RATE) end = start;
        end = place(frame, bytes, end);
        frame.free();
      }
    } finally {
      reader.close();
    }
    if (bytes.byteLength > 0) return new Float32Array(bytes.slice());
    throw new EngineError("undecodable_media", "Nothing of the sound can be decoded.");
  } finally {
    await source.close();
  }
}

async function* listSound(reader: MediaReader): Track {
  for (let next = await reader.next(); next; next = await reader.next()) {
    const { frame, seconds } = next;
    frame.timeBase = new Rational(1, frame.sampleRate);
    frame.pts = BigInt(Math.round(seconds * frame.sampleRate));
    yield frame;
  }
  yield null;
}

function toSamples({ pts, timeBase }: Frame): number {
  return Math.round((Number(pts) * timeBase.num * SOUND_RATE) / timeBase.den);
}

/** Writes the frame at sample `start`, which may be negative; returns where it ends. */
function place(frame: Frame, bytes: ArrayBuffer, start: number): number {
  const sound = frame.toBuffer().subarray(0, frame.nbSamples * 4);
  const end = start + frame.nbSamples;
  if (end * 4 > bytes.maxByteLength) {
    throw new EngineError("too_large", `At most ${MAX_SECONDS / 60} minutes of sound are taken.`);
  }
  if (end * 4 > bytes.byteLength) bytes.resize(end * 4);
  const from = Math.max(0, -start);
  if (from < frame.nbSamples) {
    new Uint8Array(bytes).set(sound.subarray(from * 4), (start + from) * 4);
  }
  return end;
}
