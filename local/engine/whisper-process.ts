import { availableParallelism } from "node:os";
import { arrayBuffer } from "node:stream/consumers";
import { FilterAPI } from "node-av/api";
import { AV_CHANNEL_ORDER_NATIVE, AV_LOG_DEBUG, AV_SAMPLE_FMT_FLTP } from "node-av/constants";
import { Frame, Log } from "node-av/lib";
import { SAMPLE_RATE } from "./audio-samples.ts";
import type { Track } from "./media-track.ts";
import { CHUNK_SPACING_SECONDS } from "./speech-whisper.ts";

/** Library that FFmpeg's filter, built with Vulkan, loads even to compute on the CPU. */
const VULKAN = "libvulkan.so.1";
const FRAME = 1_600;
const MONO = { nbChannels: 1, order: AV_CHANNEL_ORDER_NATIVE, mask: 4n };

/**
 * `whisper-process.ts MODEL LANGUAGE LENGTH…` transcribes chunks of samples from standard input,
 * whose lengths are arguments, and writes the filter's JSON lines and log. Times are in
 * milliseconds on a clock on which chunks start `CHUNK_SPACING_SECONDS` apart.
 */
const [model = "", language = "", ...lengths] = process.argv.slice(2);
if (process.platform === "linux" && !hasLibrary(VULKAN)) {
  throw new Error(`Whisper needs ${VULKAN}: install Debian's libvulkan1.`);
}
Log.setLevel(AV_LOG_DEBUG);
const bytes = await arrayBuffer(process.stdin);
const options = [
  `model=${escapeOption(model)}`,
  `language=${language}`,
  `queue=${CHUNK_SPACING_SECONDS}`,
  "use_gpu=0",
  "format=json",
  `destination=${escapeOption("pipe:1")}`,
];
let start = 0;
for (const [at, length] of lengths.map(Number).entries()) {
  const chunk = new Float32Array(bytes, start * 4, length);
  start += length;
  using filter = FilterAPI.create(`whisper=${options.join(":")}`, {
    threads: availableParallelism(),
  });
  for await (const frame of filter.frames(listFrames(chunk, at))) frame?.free();
}

async function* listFrames(samples: Float32Array, chunkIndex: number): Track {
  for (let at = 0; at < samples.length; at += FRAME) {
    const part = samples.slice(at, at + FRAME);
    yield Frame.fromAudioBuffer(Buffer.from(part.buffer), {
      nbSamples: part.length,
      format: AV_SAMPLE_FMT_FLTP,
      sampleRate: SAMPLE_RATE,
      channelLayout: MONO,
      timeBase: { num: 1, den: SAMPLE_RATE },
      pts: BigInt(chunkIndex * CHUNK_SPACING_SECONDS * SAMPLE_RATE + at),
    });
  }
  yield null;
}

/**
 * Escapes a value twice: for the option and for the graph (FFmpeg's manual, "Notes on filtergraph
 * escaping").
 */
function escapeOption(value: string): string {
  return value.replaceAll(/[\\':]/g, String.raw`\$&`).replaceAll(/[\\'[\],;]/g, String.raw`\$&`);
}

/** Tests for a library. Opening one that is no addon fails too, but with another error. */
function hasLibrary(name: string): boolean {
  try {
    process.dlopen({ exports: {} }, name);
    return true;
  } catch (error) {
    return !(error instanceof Error && error.message.includes("cannot open shared object"));
  }
}
