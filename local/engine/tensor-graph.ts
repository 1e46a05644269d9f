import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setWasmPaths } from "@tensorflow/tfjs-backend-wasm";
import { type GraphModel, loadGraphModel } from "@tensorflow/tfjs-converter";
import { type io, ready, setBackend } from "@tensorflow/tfjs-core";
import { packageFolder } from "./packages.ts";

interface ModelFile {
  modelTopology: object;
  weightsManifest: { paths: string[]; weights: io.WeightsManifestEntry[] }[];
}

let backend: Promise<void> | undefined;

async function start(): Promise<void> {
  setWasmPaths(`${packageFolder("@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm.wasm")}/`);
  if (!(await setBackend("wasm"))) throw new Error("The WebAssembly backend did not start.");
  await ready();
}

/** Starts the WebAssembly backend once; call before any use of tensors. */
export function startBackend(): Promise<void> {
  backend ??= start();
  return backend;
}

/** Loads a TensorFlow.js graph model from its `model.json` on disk. */
export async function loadTensorGraph(path: string): Promise<GraphModel> {
  await startBackend();
  const file: ModelFile = JSON.parse(await readFile(path, "utf8"));
  const shards = file.weightsManifest.flatMap((group) => group.paths);
  const bytes = await Promise.all(shards.map((shard) => readFile(join(dirname(path), shard))));
  return loadGraphModel({
    load: () =>
      Promise.resolve({
        modelTopology: file.modelTopology,
        weightSpecs: file.weightsManifest.flatMap((group) => group.weights),
        weightData: new Uint8Array(Buffer.concat(bytes)).buffer,
      }),
  });
}
