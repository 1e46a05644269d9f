import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import * as z from "zod";

/** Paths of the models in the models folder; null for each kind that is missing. */
export interface InstalledModels {
  /** Whisper file. */
  speech: string | null;
  /** Folder of a joint image-text embedding model. */
  embeddings: string | null;
  /** Folder of a vision-language model. */
  captions: string | null;
}

/** Weight formats in order of preference on a CPU, with the suffix of their file names. */
const WEIGHTS = [
  ["q8", "_quantized"],
  ["fp32", ""],
] as const;

const JOINT_SPACE = {
  types: ["clip", "siglip"],
  networks: ["text_model", "vision_model"],
  settings: ["preprocessor_config.json", "tokenizer.json", "tokenizer_config.json"],
};
const CAPTIONS = {
  types: ["idefics3", "smolvlm"],
  networks: ["embed_tokens", "vision_encoder", "decoder_model_merged"],
  settings: [...JOINT_SPACE.settings, "processor_config.json"],
};
type Kind = typeof JOINT_SPACE;

const Config = z.object({ model_type: z.string() });

/** Magic number at the start of a ggml file, little-endian. */
const GGML = "lmgg";

/** Returns `MODELS_DIR`, by default `local/models`. */
export function modelsFolder(): string {
  return resolve(process.env["MODELS_DIR"] || join(import.meta.dirname, "../models"));
}

/** Finds the models in the subfolders of `folder`; of several of one kind, the largest. */
export function findModels(folder = modelsFolder()): InstalledModels {
  const folders = listFiles(folder);
  return {
    speech: largest(folders.flatMap(listFiles).filter(isWhisper), fileSize),
    embeddings: largest(folders, (path) => networksSize(path, JOINT_SPACE)),
    captions: largest(folders, (path) => networksSize(path, CAPTIONS)),
  };
}

/** Reads `model_type` from a folder's `config.json`. Throws errors of `fs` or zod. */
export function readModelType(folder: string): string {
  return Config.parse(JSON.parse(readFileSync(join(folder, "config.json"), "utf8"))).model_type;
}

/** Chooses the weight format to load. */
export function chooseWeights(folder: string): "q8" | "fp32" {
  const type = readModelType(folder);
  const kind = [JOINT_SPACE, CAPTIONS].find(({ types }) => types.includes(type));
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

/** Returns the path with the largest size; null if every size is 0. */
function largest(paths: string[], sizeOf: (path: string) => number): string | null {
  const sized = paths.map((path) => ({ path, size: sizeOf(path) })).filter(({ size }) => size > 0);
  return sized.sort((a, b) => b.size - a.size)[0]?.path ?? null;
}

/** Returns the size in bytes; 0 if there is no such file. */
function fileSize(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() ? found.size : 0;
}

/** Lists the paths in a folder by name; empty if there is no such folder. */
function listFiles(folder: string): string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(folder)
    .sort()
    .map((name) => join(folder, name));
}
