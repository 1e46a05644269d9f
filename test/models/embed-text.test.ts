import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { MODELS } from "../../src/config.ts";
import { embedText } from "../../src/models/embed.ts";
import { errorOf, localAi } from "../local/bindings.ts";

const { id, batchSize } = MODELS.embedText;
const cosine = (a: number[], b: number[]) => a.reduce((sum, value, i) => sum + value * b[i]!, 0);

afterEach(() => localAi().behave(id, "batchLimit", null));

describe("embedding texts", () => {
  it("takes 96 texts of another script that are longer than the model reads", async () => {
    const texts = Array.from({ length: batchSize }, (_, i) => "犬が走る".repeat(300) + i);
    const vectors = await embedText(env.AI, texts);
    expect(vectors).toHaveLength(batchSize);
  });

  it.each([
    "3006: Request is too large",
    "3030: Max context reached 85920 tokens but model supports only 60000",
    "5021: The estimated number of tokens (9) exceeded this model context window limit (8)",
    "3010: Invalid or incomplete input: too many tokens",
  ])("halves a batch until the model takes it, and keeps the order: %s", async (refusal) => {
    const texts = ["a dog", "the tax law", "a boat", "a clock", "seven goats"];
    const expected = await embedText(env.AI, texts);
    await localAi().behave(id, "batchLimit", { maxTexts: 1, refusal });
    const vectors = await embedText(env.AI, texts);
    expect(vectors).toHaveLength(texts.length);
    for (const [i, vector] of vectors.entries()) {
      expect(cosine(vector, expected[i]!)).toBeCloseTo(1, 4);
    }
  });

  it("sends equal texts once", async () => {
    const inputs: unknown[] = [];
    const run = (model: "@cf/baai/bge-m3", input: AiModels[typeof model]["inputs"]) => {
      inputs.push(input);
      return env.AI.run(model, input);
    };
    const [dog, boat, again] = await embedText({ run } as unknown as Ai, ["a", "b", "a"]);
    expect(inputs).toMatchObject([{ text: ["a", "b"] }]);
    expect(again).toEqual(dog);
    expect(boat).not.toEqual(dog);
  });

  it("fails if the model refuses even a single text for its size", async () => {
    await localAi().behave(id, "batchLimit", { maxTexts: 0, refusal: "3006: Too large" });
    const error = await errorOf(embedText(env.AI, ["a", "b", "c"]));
    expect(error).toMatchObject({ code: "model_request_rejected" });
  });

  it("doesn't repeat a batch that is refused for another reason", async () => {
    await localAi().behave(id, "batchLimit", { maxTexts: 1, refusal: "3021: Rate limit exceeded" });
    const error = await errorOf(embedText(env.AI, ["a", "b"]));
    expect(error).toMatchObject({ code: "upstream_unavailable" });
  });
});
