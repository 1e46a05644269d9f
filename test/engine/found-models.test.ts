import { mkdirSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EmbeddingList } from "../../local/engine/embeddings.ts";
import { findModels } from "../../local/engine/found-models.ts";
import { type Engine, readJson, readRefusal, startEngine } from "./engine-process.ts";
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

/** A file that starts as ggml's do, or not. */
function writeSpeech(path: string, bytes: number, magic = "lmgg"): void {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, magic.padEnd(bytes));
}

describe("the folder of models", () => {
  const nothing = { speech: null, pictures: null, captions: null };

  it("may be missing, empty or full of other things", () => {
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

  it("is searched for what can be used, the largest of each", () => {
    writeSpeech(at("a", "ggml-base.bin"), 9);
    writeSpeech(at("b", "ggml-small.bin"), 12);
    writeTinyClip(at("clip"));
    writeTinyVlm(at("vlm"));
    const found = { speech: at("b", "ggml-small.bin"), captions: at("vlm") };
    expect(findModels(models)).toEqual({ ...found, pictures: at("clip") });
    writeTinySiglip(at("siglip"));
    expect(findModels(models)).toEqual({ ...found, pictures: at("siglip") });
  });

  it("has no model as long as one of its files is missing", () => {
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
    expect(findModels(models).pictures).toBe(at("clip"));
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
  why?: string;
}

/** Once the ability has loaded, or has failed to. */
async function settled(running: Engine, name: string): Promise<Status> {
  for (let round = 0; round < 100; round++) {
    const health = await running.fetch("/health");
    const { abilities } = await readJson<{ abilities: Record<string, Status> }>(health);
    const status = abilities[name];
    if (status && status.why !== "loading") return status;
    await new Promise((resolve) => void setTimeout(resolve, 50));
  }
  throw new Error(`${name} goes on loading.`);
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
])("a pulled %s", (name, write, dimensions) => {
  it("is the picture space, of unit vectors filled up to one length", async () => {
    write(at(`tiny-${name}`));
    const running = await start();
    expect(await settled(running, "pictures")).toEqual({ ready: true, model: `tiny-${name}` });
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
    const other = JSON.stringify({ model: "sightline-picture-space-1", input: ["a dog"] });
    expect(await readRefusal(await running.post("/v1/embeddings", other))).toEqual([
      400,
      "bad_request",
    ]);
  });

  it("sees pictures upright, and refuses what is none", async () => {
    write(at(`tiny-${name}`));
    const running = await start();
    const upright = halves("red", "blue").png();
    const turned = sharp(await halves("red", "blue").png().toBuffer()).rotate(-90);
    const images = await Promise.all([
      upright.toBuffer(),
      turned.withMetadata({ orientation: 6 }).png().toBuffer(),
      turned.clone().keepMetadata().withMetadata({ orientation: 1 }).png().toBuffer(),
    ]);
    const inputs = images.map((png) => ({ image: png.toString("base64") }));
    const [straight, corrected, lying] = await embed(running, inputs);
    expect(corrected).toEqual(straight);
    expect(lying).not.toEqual(straight);
    for (const image of ["", "bm8gcGljdHVyZQ=="]) {
      const body = JSON.stringify({ input: [{ image }] });
      expect(await readRefusal(await running.post("/v1/embeddings", body))).toEqual([
        422,
        "undecodable_image",
      ]);
    }
  });

  it("is said to be broken when it was cut, and the engine lives on", async () => {
    write(at(`tiny-${name}`));
    const suffix = name === "clip" ? "_quantized" : "";
    truncateSync(at(`tiny-${name}`, `onnx/vision_model${suffix}.onnx`), 5_000);
    const running = await start();
    expect(await settled(running, "pictures")).toEqual({
      ready: false,
      model: `tiny-${name}`,
      why: `tiny-${name} can't be loaded: its files are broken or don't fit together. Pull it again.`,
    });
    const refused = await running.post("/v1/embeddings", '{"input":["a dog"]}');
    expect(await readRefusal(refused)).toEqual([500, "failed"]);
    expect((await running.post("/sentences", '{"texts":["a dog"]}')).status).toBe(200);
  });
});

describe("a pulled model of more dimensions than fit", () => {
  it("is refused", async () => {
    writeTinySiglip(at("wide"), 800);
    const status = await settled(await start(), "pictures");
    expect(status).toMatchObject({ ready: false, model: "wide" });
  });
});
