import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { z } from "zod";

/** What lies in the folder of models that the engine can use; null where there is nothing. */
export interface FoundModels {
  /** A Whisper file. */
  speech: string | null;
  /** The folder of a joint picture-text model. */
  pictures: string | null;
  /** The folder of a vision-language model. */
  captions: string | null;
}

/** Networks by quality for their speed on a CPU; the second is how their files' names end. */
const WEIGHTS = [
  ["q8", "_quantized"],
  ["fp32", ""],
] as const;

const PICTURES = {
  types: ["clip", "siglip"],
  networks: ["text_model", "vision_model"],
  settings: ["preprocessor_config.json", "tokenizer.json", "tokenizer_config.json"],
};
const CAPTIONS = {
  types: ["idefics3", "smolvlm"],
  networks: ["embed_tokens", "vision_encoder", "decoder_model_merged"],
  settings: [...PICTURES.settings, "processor_config.json"],
};
type Kind = typeof PICTURES;

const Config = z.object({ model_type: z.string() });

/** The first bytes of a ggml file: its magic number, the lowest byte first. */
const GGML = "lmgg";

/** `MODELS_DIR`, or `local/models`. */
export function modelsFolder(): string {
  return resolve(process.env["MODELS_DIR"] || join(import.meta.dirname, "../models"));
}

/** Looks into each folder in `folder`. Of several models for one thing, the largest is taken. */
export function findModels(folder = modelsFolder()): FoundModels {
  const folders = listFiles(folder);
  return {
    speech: largest(folders.flatMap(listFiles).filter(isWhisper), fileSize),
    pictures: largest(folders, (path) => networksSize(path, PICTURES)),
    captions: largest(folders, (path) => networksSize(path, CAPTIONS)),
  };
}

/** What the folder's `config.json` says it is. Errors: one of `fs` or zod. */
export function readModelType(folder: string): string {
  return Config.parse(JSON.parse(readFileSync(join(folder, "config.json"), "utf8"))).model_type;
}

/** Which weights of a found model to load. */
export function chooseWeights(folder: string): "q8" | "fp32" {
  const type = readModelType(folder);
  const kind = [PICTURES, CAPTIONS].find(({ types }) => types.includes(type));
  return (kind && findNetworks(folder, kind)?.weights) ?? "fp32";
}

function networksSize(folder: string, kind: Kind): number {
  try {
    if (!kind.types.includes(readModelType(folder))) return 0;
  } catch {
    return 0;
  }
  if (kind.settings.some((file) => fileSize(join(folder, file)) === 0)) return 0;
  return findNetworks(folder, kind)?.bytes ?? 0;
}

function findNetworks(folder: string, { networks }: Kind) {
  for (const [weights, suffix] of WEIGHTS) {
    const sizes = networks.map((name) => fileSize(join(folder, "onnx", `${name}${suffix}.onnx`)));
    if (!sizes.includes(0)) return { weights, bytes: sizes.reduce((sum, size) => sum + size, 0) };
  }
  return null;
}

function isWhisper(file: string): boolean {
  if (!/^ggml-.*\.bin$/.test(basename(file)) || fileSize(file) === 0) return false;
  const start = Buffer.alloc(GGML.length);
  const opened = openSync(file, "r");
  readSync(opened, start);
  closeSync(opened);
  return start.toString("latin1") === GGML;
}

/** Null where the largest has no size. */
function largest(paths: string[], sizeOf: (path: string) => number): string | null {
  const sized = paths.map((path) => ({ path, size: sizeOf(path) })).filter(({ size }) => size > 0);
  return sized.sort((a, b) => b.size - a.size)[0]?.path ?? null;
}

/** Bytes; 0 where there is no such file. */
function fileSize(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() ? found.size : 0;
}

/** Paths in name order; empty where there is no such folder. */
function listFiles(folder: string): string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(folder)
    .sort()
    .map((name) => join(folder, name));
}
