import { describe, expect, it } from "vitest";
import { MODELS } from "../../src/config.ts";
import { localAi, rejectionMessage } from "./bindings.ts";

const ai = localAi();
const EMBED = MODELS.embedText.id;
const cosine = (a: number[], b: number[]) => a.reduce((sum, value, i) => sum + value * b[i]!, 0);

describe("the embedding model", () => {
  it("has production's shape and similar vectors for similar texts", async () => {
    const texts = ["A dog runs on grass.", "A puppy plays in a meadow.", "Tax law of 1986"];
    const output = await ai.run(EMBED, { text: texts });
    if (!("pooling" in output)) throw new Error("no vectors");
    const [dog, puppy, tax] = output.data;
    expect(output).toMatchObject({ shape: [3, 1024], pooling: "cls" });
    expect(output.data.map((vector) => vector.length)).toEqual([1024, 1024, 1024]);
    expect(cosine(dog!, puppy!)).toBeGreaterThan(cosine(dog!, tax!));
  });

  it("accepts a single text", async () => {
    expect(await ai.run(EMBED, { text: "hello" })).toMatchObject({ shape: [1, 1024] });
  });

  it.for<[string, object, RegExp]>([
    ["no text", {}, /^5006: /],
    ["an empty list", { text: [] }, /^5006: /],
    ["an empty text", { text: ["a", ""] }, /^5006: /],
    ["101 texts", { text: Array.from({ length: 101 }, () => "a") }, /^5006: /],
    ["10 MB", { text: "x".repeat(10_000_000) }, /^3006: Request is too large$/],
    ["a text of over 512 tokens", { text: "word ".repeat(410) }, /^3010: .*too long: 513 > 512$/],
    ["513 ideographs", { text: "犬".repeat(513) }, /^3010: .*Sequence too long: 513 > 512$/],
    [
      "60,001 tokens",
      { text: Array.from({ length: 60 }, () => "犬".repeat(1001)), truncate_inputs: true },
      /^3030: Max context reached 60060 tokens but model supports only 60000$/,
    ],
    ["reranking", { query: "q", contexts: [{ text: "c" }] }, /^5007: No such model .* or task$/],
  ])("rejects a request with %s", async ([, inputs, message]) => {
    expect(await rejectionMessage(ai.run(EMBED, inputs))).toMatch(message);
  });

  it("cuts a text of over 512 tokens off where that is requested", async () => {
    const start = "A dog runs on grass. ".repeat(98);
    const text = [start, `${start}${"Tax law. ".repeat(50)}`];
    const output = await ai.run(EMBED, { text, truncate_inputs: true });
    if (!("pooling" in output)) throw new Error("no vectors");
    expect(cosine(output.data[0]!, output.data[1]!)).toBeCloseTo(1, 3);
  });

  it("refuses batches that a test limits", async () => {
    await ai.behave(EMBED, "batchLimit", { maxTexts: 2, refusal: "3006: Request is too large" });
    expect(await ai.run(EMBED, { text: ["a", "b"] })).toMatchObject({ shape: [2, 1024] });
    expect(await rejectionMessage(ai.run(EMBED, { text: ["a", "b", "c"] }))).toMatch(/^3006: /);
    await ai.behave(EMBED, "batchLimit", null);
  });
});

describe("the joint image and text model", () => {
  const MODEL = MODELS.embedImage.id;

  it("takes the input of embeddings APIs, and no other", async () => {
    const output = await ai.run(MODEL, { input: [{ text: "a dog" }] });
    expect(output).toMatchObject({ object: "list", model: MODEL, data: [{ index: 0 }] });
    expect(await rejectionMessage(ai.run(MODEL, { text: "a dog" }))).toMatch(/^5006: /);
  });

  it("rejects an image by URL", async () => {
    const call = ai.run(MODEL, { input: [{ image: "https://x.test/a.jpg" }] });
    expect(await rejectionMessage(call)).toMatch(/^5004: .*https$/);
  });
});
