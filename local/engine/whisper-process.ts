import { availableParallelism } from "node:os";
import { arrayBuffer } from "node:stream/consumers";
import { FilterAPI } from "node-av/api";
import { AV_CHANNEL_ORDER_NATIVE, AV_LOG_DEBUG, AV_SAMPLE_FMT_FLTP } from "node-av/constants";
import { Frame, Log } from "node-av/lib";
import type { Track } from "./media-track.ts";
import { SOUND_RATE } from "./sound.ts";
import { STRETCH_EVERY } from "./speech-whisper.ts";

/** What FFmpeg's filter, built with Vulkan, calls into even where it computes on the CPU. */
const VULKAN = "libvulkan.so.1";
const FRAME = 1_600;
const MONO = { nbChannels: 1, order: AV_CHANNEL_ORDER_NATIVE, mask: 4n };

/**
 * `whisper-process.ts MODEL LANGUAGE LENGTH…` hears the stretches of samples on its standard input,
 * whose lengths it is told, and writes the filter's lines of JSON and its log. Times are in
 * milliseconds, on a clock on which each stretch begins `STRETCH_EVERY` seconds after the one before.
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
  `queue=${STRETCH_EVERY}`,
  "use_gpu=0",
  "format=json",
  `destination=${escapeOption("pipe:1")}`,
];
let start = 0;
for (const [at, length] of lengths.map(Number).entries()) {
  const stretch = new Float32Array(bytes, start * 4, length);
  start += length;
  using filter = FilterAPI.create(`whisper=${options.join(":")}`, {
    threads: availableParallelism(),
  });
  for await (const frame of filter.frames(listFrames(stretch, at))) frame?.free();
}

async function* listFrames(samples: Float32Array, place: number): Track {
  for (let at = 0; at < samples.length; at += FRAME) {
    const part = samples.slice(at, at + FRAME);
    yield Frame.fromAudioBuffer(Buffer.from(part.buffer), {
      nbSamples: part.length,
      format: AV_SAMPLE_FMT_FLTP,
      sampleRate: SOUND_RATE,
      channelLayout: MONO,
      timeBase: { num: 1, den: SOUND_RATE },
      pts: BigInt(place * STRETCH_EVERY * SOUND_RATE + at),
    });
  }
  yield null;
}

/** Once for the option's value, once for the graph (FFmpeg's manual, "Notes on filtergraph escaping"). */
function escapeOption(value: string): string {
  return value.replaceAll(/[\\':]/g, String.raw`\$&`).replaceAll(/[\\'[\],;]/g, String.raw`\$&`);
}

/** Opening a library that is no addon fails too, but for another reason. */
function hasLibrary(name: string): boolean {
  try {
    process.dlopen({ exports: {} }, name);
    return true;
  } catch (error) {
    return !(error instanceof Error && error.message.includes("cannot open shared object"));
  }
}
