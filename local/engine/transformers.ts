import { SESSION_OPTIONS } from "./onnx.ts";

// Only now: ONNX Runtime, which this brings along, finds the setting of `onnx.ts` when it is loaded.
const transformers = await import("@huggingface/transformers");

const { env, LogLevel } = transformers;
env.allowRemoteModels = false;
env.useFSCache = false;
env.useWasmCache = false;
// What a failing network was given, pictures and prompts, would be printed.
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

/** How networks of these weights are loaded; nothing is fetched, nothing is kept. */
export function loadOptions(weights: "q8" | "fp32") {
  return {
    device: "cpu" as const,
    dtype: weights,
    local_files_only: true,
    session_options: { ...SESSION_OPTIONS },
  };
}
