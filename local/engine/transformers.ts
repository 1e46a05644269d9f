import { SESSION_OPTIONS } from "./onnx.ts";

// Imported after `onnx.ts` has disabled telemetry: this loads ONNX Runtime.
const transformers = await import("@huggingface/transformers");

const { env, LogLevel } = transformers;
env.allowRemoteModels = false;
env.useFSCache = false;
env.useWasmCache = false;
// Errors would print the inputs of a failing network, images and prompts.
env.logLevel = LogLevel.NONE;

export const {
  AutoImageProcessor,
  AutoModelForImageTextToText,
  AutoProcessor,
  AutoTokenizer,
  CLIPTextModelWithProjection,
  CLIPVisionModelWithProjection,
  InterruptableStoppingCriteria,
  RawImage,
  SiglipTextModel,
  SiglipVisionModel,
  Tensor,
  TextStreamer,
} = transformers;

/** Returns options to load local weights; nothing is downloaded or cached. */
export function loadOptions(weights: "q8" | "fp32") {
  return {
    device: "cpu" as const,
    dtype: weights,
    local_files_only: true,
    session_options: { ...SESSION_OPTIONS },
  };
}
