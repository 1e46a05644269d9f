import { mkdirSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EmbeddingList } from "../../local/engine/embeddings.ts";
import { findModels } from "../../local/engine/installed-models.ts";
import { waitUntil } from "../support/wait.ts";
import { type Engine, readJson, readError, startEngine } from "./engine-process.ts";
import { writeTinyClip, writeTinySiglip, writeTinyVlm } from "./tiny-models.ts";

const root = mkdtempSync(join(tmpdir(), "sightline-models-"));
let models: string;
let engine: Engine | undefined;

beforeEach(() => {
  models = mkdtempSync(join(root, "models-"));
});
afterEach(async () => {
  await engine?.stop();
  engine = undefined;
});
afterAll(() => rmSync(root, { recursive: true }));

const at = (...path: string[]) => join(models, ...path);

/** Writes a file that starts with `magic`, by default that of ggml. */
function writeSpeech(path: string, bytes: number, magic = "lmgg"): void {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, magic.padEnd(bytes));
}

describe("the models folder", () => {
  const nothing = { speech: null, embeddings: null, captions: null };

  it("provides no model if it is missing or contains no usable one", () => {
    expect(findModels(at("nowhere"))).toEqual(nothing);
    expect(findModels(models)).toEqual(nothing);
    mkdirSync(at("empty"));
    writeFileSync(at("config.json"), "{}");
    writeSpeech(at("other", "ggml-base.bin"), 9, "GGUF");
    writeSpeech(at("other", "model.bin"), 9);
    writeSpeech(at("other", "ggml-short.bin"), 4, "lm");
    mkdirSync(at("broken"));
    writeFileSync(at("broken", "config.json"), "{");
    expect(findModels(models)).toEqual(nothing);
  });

  it("is searched for the largest usable model of each kind", () => {
    writeSpeech(at("a", "ggml-base.bin"), 9);
    writeSpeech(at("b", "ggml-small.bin"), 12);
    writeTinyClip(at("clip"));
    writeTinyVlm(at("vlm"));
    const found = { speech: at("b", "ggml-small.bin"), captions: at("vlm") };
    expect(findModels(models)).toEqual({ ...found, embeddings: at("clip") });
    writeTinySiglip(at("siglip"));
    expect(findModels(models)).toEqual({ ...found, embeddings: at("siglip") });
  });

  it("provides no model that lacks one of its files", () => {
    writeSpeech(at("a", "ggml-base.bin.part"), 9);
    writeTinyClip(at("clip"));
    writeTinyVlm(at("vlm"));
    const networks = ["text_model", "decoder_model_merged"];
    for (const [at, folder] of ["clip", "vlm"].entries()) {
      const file = join(models, folder, "onnx", `${networks[at]}_quantized.onnx`);
      renameSync(file, `${file}.part`);
    }
    expect(findModels(models)).toEqual(nothing);
    renameSync(at("clip", "onnx/text_model_quantized.onnx.part"), at("clip", "onnx/x"));
    renameSync(at("clip", "onnx/x"), at("clip", "onnx/text_model_quantized.onnx"));
    expect(findModels(models).embeddings).toBe(at("clip"));
    rmSync(at("clip", "tokenizer.json"));
    expect(findModels(models)).toEqual(nothing);
  });
});

async function start(): Promise<Engine> {
  engine = await startEngine({ MODELS_DIR: models });
  return engine;
}

interface Status {
  ready: boolean;
  model: string;
  reason?: string;
}

/** Waits until the capability has loaded or failed to. */
async function waitForStatus(running: Engine, name: string): Promise<Status> {
  return waitUntil(async () => {
    const health = await running.fetch("/health");
    const { capabilities } = await readJson<{ capabilities: Record<string, Status> }>(health);
    const status = capabilities[name];
    return status?.reason !== "loading" && status;
  });
}

async function embed(running: Engine, input: unknown[]): Promise<number[][]> {
  const response = await running.post("/v1/embeddings", JSON.stringify({ input }));
  expect(response.status).toBe(200);
  const { data } = await readJson<EmbeddingList>(response);
  return data.map(({ embedding }) => embedding);
}

const halves = (top: string, bottom: string) =>
  sharp({ create: { width: 40, height: 40, channels: 3, background: top } }).composite([
    {
      input: { create: { width: 40, height: 20, channels: 3, background: bottom } },
      gravity: "south",
    },
  ]);

describe.each([
  ["clip", writeTinyClip, 32],
  ["siglip", writeTinySiglip, 48],
])("a pulled %s model", (name, write, dimensions) => {
  it("provides the joint space as unit vectors padded to 768 dimensions", async () => {
    write(at(`tiny-${name}`));
    const running = await start();
    expect(await waitForStatus(running, "embeddings")).toEqual({
      ready: true,
      model: `tiny-${name}`,
    });
    const [red, blue] = await Promise.all([
      halves("red", "blue").jpeg().toBuffer(),
      halves("blue", "red").jpeg().toBuffer(),
    ]);
    const images = [red, blue, red].map((jpeg) => ({ image: jpeg.toString("base64") }));
    const texts = ["a dog", "a cat", "a dog", ""];
    const vectors = await embed(running, [...images, ...texts]);
    for (const vector of vectors) {
      expect(vector).toHaveLength(768);
      expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
      expect(vector.slice(dimensions).every((number) => number === 0)).toBe(true);
    }
    expect(vectors[2]).toEqual(vectors[0]);
    expect(vectors[1]).not.toEqual(vectors[0]);
    expect(vectors[5]).toEqual(vectors[3]);
    expect(vectors[4]).not.toEqual(vectors[3]);
    const [alone] = await embed(running, ["a cat"]);
    expect(alone).toEqual(vectors[4]);
    const named = JSON.stringify({ model: `tiny-${name}`, input: ["a dog"] });
    expect((await running.post("/v1/embeddings", named)).status).toBe(200);
    const other = JSON.stringify({ model: "sightline-joint-space-1", input: ["a dog"] });
    expect(await readError(await running.post("/v1/embeddings", other))).toEqual([
      400,
      "bad_request",
    ]);
  });

  it("embeds images upright and rejects invalid ones", async () => {
    write(at(`tiny-${name}`));
    const running = await start();
    const upright = halves("red", "blue").png();
    const rotated = sharp(await halves("red", "blue").png().toBuffer()).rotate(-90);
    const images = await Promise.all([
      upright.toBuffer(),
      rotated.withMetadata({ orientation: 6 }).png().toBuffer(),
      rotated.clone().keepMetadata().withMetadata({ orientation: 1 }).png().toBuffer(),
    ]);
    const inputs = images.map((png) => ({ image: png.toString("base64") }));
    const [uprightVector, corrected, uncorrected] = await embed(running, inputs);
    expect(corrected).toEqual(uprightVector);
    expect(uncorrected).not.toEqual(uprightVector);
    for (const image of ["", "bm8gcGljdHVyZQ=="]) {
      const body = JSON.stringify({ input: [{ image }] });
      expect(await readError(await running.post("/v1/embeddings", body))).toEqual([
        422,
        "undecodable_image",
      ]);
    }
  });

  it("with a truncated network is reported as broken, and the engine keeps running", async () => {
    write(at(`tiny-${name}`));
    const suffix = name === "clip" ? "_quantized" : "";
    truncateSync(at(`tiny-${name}`, `onnx/vision_model${suffix}.onnx`), 5_000);
    const running = await start();
    expect(await waitForStatus(running, "embeddings")).toEqual({
      ready: false,
      model: `tiny-${name}`,
      reason:
        `tiny-${name} can't be loaded: its files are broken or don't fit together. ` +
        "Pull it again.",
    });
    const rejected = await running.post("/v1/embeddings", '{"input":["a dog"]}');
    expect(await readError(rejected)).toEqual([500, "failed"]);
    expect((await running.post("/sentences", '{"texts":["a dog"]}')).status).toBe(200);
  });
});

describe("a pulled model with more than 768 dimensions", () => {
  it("is not ready", async () => {
    writeTinySiglip(at("wide"), 800);
    const status = await waitForStatus(await start(), "embeddings");
    expect(status).toMatchObject({ ready: false, model: "wide" });
  });
});
