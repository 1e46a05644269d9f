import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { localMedia } from "../../local/local-media.ts";
import { MODELS } from "../../src/config.ts";
import { localAi, refusal } from "./bindings.ts";

const ai = localAi();
const EMBED = MODELS.embedText.id;
const DESCRIBE = MODELS.describe.id;
const TRANSCRIBE = MODELS.transcribe.id;
const DETECT = MODELS.detect.id;

const text = { type: "string" };
const list = { type: "array", items: text };
const objects = {
  type: "array",
  items: { type: "object", properties: { label: text, box_2d: { type: "array" } } },
};
let picture = "";

/** A question about a picture, answered in JSON of these properties. */
function ask(properties: Record<string, object>, required: string[] = [], url = picture) {
  return {
    messages: [
      { role: "system", content: "Describe the picture." },
      { role: "user", content: [{ type: "image_url", image_url: { url } }] },
    ],
    response_format: {
      type: "json_schema",
      json_schema: { name: "seen", schema: { type: "object", properties, required } },
    },
  };
}

async function chat(inputs: object): Promise<ChatCompletionsOutput> {
  const output = await ai.run(DESCRIBE, inputs);
  if (!("choices" in output)) throw new Error("not a completion");
  return output;
}

async function answer(inputs: object): Promise<unknown> {
  const output = await chat(inputs);
  return JSON.parse(output.choices[0]?.message.content ?? "");
}

const cosine = (a: number[], b: number[]) => a.reduce((sum, value, i) => sum + value * b[i]!, 0);

beforeAll(async () => {
  const clip = await fetch(`${inject("filesOrigin")}/clip.mp4`);
  const frame = localMedia(env)
    .input(clip.body!)
    .output({ mode: "frame", time: "1s", format: "jpg" });
  const bytes = await new Response(await frame.media()).bytes();
  picture = `data:image/jpeg;base64,${Buffer.from(bytes).toString("base64")}`;
});

describe("the embedding model", () => {
  it("has production's shape, and puts like beside like", async () => {
    const texts = ["A dog runs on grass.", "A puppy plays in a meadow.", "Tax law of 1986"];
    const output = await ai.run(EMBED, { text: texts });
    if (!("data" in output)) throw new Error("no vectors");
    const [dog, puppy, tax] = output.data;
    expect(output).toMatchObject({ shape: [3, 1024], pooling: "cls" });
    expect(output.data.map((vector) => vector.length)).toEqual([1024, 1024, 1024]);
    expect(cosine(dog!, puppy!)).toBeGreaterThan(cosine(dog!, tax!));
  });

  it("takes one text as it is", async () => {
    expect(await ai.run(EMBED, { text: "hello" })).toMatchObject({ shape: [1, 1024] });
  });

  it.for<[string, object, RegExp]>([
    ["no text", {}, /^5006: /],
    ["an empty list", { text: [] }, /^5006: /],
    ["an empty text", { text: ["a", ""] }, /^5006: /],
    ["101 texts", { text: Array.from({ length: 101 }, () => "a") }, /^5006: /],
    ["10 MB", { text: "x".repeat(10_000_000) }, /^3006: Request is too large$/],
    ["reranking", { query: "q", contexts: [{ text: "c" }] }, /^5007: No such model .* or task$/],
  ])("refuses %s", async ([, inputs, message]) => {
    expect(await refusal(ai.run(EMBED, inputs))).toMatch(message);
  });
});

describe("the describing model", () => {
  it("reads a picture into the schema's properties, and no others", async () => {
    const output = await chat(ask({ text, labels: list, objects }, ["text"]));
    expect(output).toMatchObject({ object: "chat.completion", model: "composed" });
    expect(output.choices[0]).toMatchObject({ finish_reason: "stop", index: 0 });
    expect(output.usage?.total_tokens).toBeGreaterThan(256);
    const seen = JSON.parse(output.choices[0]?.message.content ?? "");
    expect(Object.keys(seen).sort()).toEqual(["labels", "objects", "text"]);
    expect(seen.text).toMatch(/hello/i);
    for (const object of seen.objects) {
      expect(Object.keys(object).sort()).toEqual(["box_2d", "label"]);
      expect(object.box_2d).toHaveLength(4);
      expect(object.box_2d.every((n: number) => Number.isInteger(n) && n >= 0 && n <= 1000)).toBe(
        true,
      );
    }
  });

  it("takes a schema without OpenAI's wrapping, and leaves out what is optional and unknown", async () => {
    const inputs = ask({});
    const bare = {
      type: "json_schema",
      json_schema: { properties: { caption: text, mood: text } },
    };
    expect(await answer({ ...inputs, response_format: bare })).toEqual({
      caption: expect.any(String),
    });
  });

  const conversation = { messages: [{ role: "user", content: "Hello?" }] };
  it.for<[string, () => object, RegExp]>([
    ["no messages", () => ({}), /^5006: /],
    ["a chat without a picture", () => ({ ...ask({}), ...conversation }), /^5007: /],
    ["free text", () => ({ messages: ask({}).messages }), /^5007: /],
    ["what it can't know", () => ask({ mood: text }, ["mood"]), /^5007: /],
    ["another type", () => ask({ text: list }, ["text"]), /^5007: /],
    ["a streamed chat", () => ({ ...conversation, stream: true }), /^5007: /],
    ["a picture by address", () => ask({}, [], "https://x.test/a.jpg"), /^5004: .*https$/],
    ["what isn't a picture", () => ask({}, [], "data:image/png;base64,aGVsbG8="), /^3010: /],
    ["10 MB", () => ask({}, [], `${picture}${"A".repeat(10_000_000)}`), /^3006: /],
    ["streamed JSON", () => ({ ...ask({}), stream: true }), /^5006: /],
  ])("refuses %s", async ([, inputs, message]) => {
    expect(await refusal(ai.run(DESCRIBE, inputs()))).toMatch(message);
  });
});

describe("the pointing model", () => {
  let clock = "";
  const point = (target: string, more: object = {}) =>
    ai.run(DETECT, { task: "detect", image: clock, target, stream: false, ...more });

  beforeAll(async () => {
    const bytes = await (await fetch(`${inject("filesOrigin")}/clock.jpg`)).bytes();
    clock = `data:image/jpeg;base64,${Buffer.from(bytes).toString("base64")}`;
  });

  it("says where a thing is, in fractions, and nothing else of it", async () => {
    const output = await point("a round clock", { reasoning: false, max_objects: 1 });
    if (!("objects" in output)) throw new Error("no objects");
    expect(output.objects).toHaveLength(1);
    const { x_min, y_min, x_max, y_max, ...more } = output.objects[0]!;
    expect(more).toEqual({});
    for (const [side, wanted] of [
      [x_min, 0.245],
      [y_min, 0.16],
      [x_max, 0.755],
      [y_max, 0.84],
    ] as const) {
      expect(Math.abs(side - wanted)).toBeLessThan(0.07);
    }
  });

  it.each(["a dog", "an alethiometer", "happiness"])("points at no %s", async (target) => {
    expect(await point(target)).toMatchObject({ objects: [], finish_reason: "stop" });
  });

  it.for<[string, object, RegExp]>([
    ["no target", { target: undefined }, /^5006: /],
    ["no picture", { image: undefined }, /^5006: /],
    ["an empty target", { target: " " }, /^5006: /],
    ["a stream", { stream: true }, /^5006: .*stream/],
    ["no objects at all", { max_objects: 0 }, /^5006: /],
    ["another task", { task: "segment" }, /^5006: /],
    ["a caption", { task: "caption" }, /^5007: /],
    ["a picture by address", { image: "https://x.test/a.jpg" }, /^5004: .*https$/],
    ["what isn't a picture", { image: "data:image/png;base64,aGVsbG8=" }, /^3010: /],
    ["10 MB", { image: "A".repeat(10_000_000) }, /^3006: /],
  ])("refuses %s", async ([, inputs, message]) => {
    expect(await refusal(point("a clock", inputs))).toMatch(message);
  });
});

describe("the speech model", () => {
  it.for<[string, object, RegExp]>([
    ["no sound", {}, /^5006: /],
    ["what isn't base64", { audio: "%%%" }, /^5006: /],
    ["a language by its name", { audio: "aGVsbG8=", language: "English" }, /^5006: /],
    ["translation", { audio: "aGVsbG8=", task: "translate" }, /^5007: /],
    ["10 MB", { audio: "A".repeat(10_000_000) }, /^3006: /],
  ])("refuses %s", async ([, inputs, message]) => {
    expect(await refusal(ai.run(TRANSCRIBE, inputs))).toMatch(message);
  });
});

describe("env.AI", () => {
  it("has no other model", async () => {
    const message = "5007: No such model @cf/openai/whisper-tiny-en or task";
    expect(await refusal(ai.run("@cf/openai/whisper-tiny-en", {}))).toBe(message);
  });

  it("fails as it is told, as often as it is told", async () => {
    await ai.inject(EMBED, "3036");
    await ai.inject(EMBED, "3040", 2);
    await ai.inject(EMBED, "3007");
    const codes = [];
    for (let i = 0; i < 4; i += 1)
      codes.push((await refusal(ai.run(EMBED, { text: "a" }))).slice(0, 5));
    expect(codes).toEqual(["3036:", "3040:", "3040:", "3007:"]);
    expect(await ai.run(EMBED, { text: "a" })).toMatchObject({ shape: [1, 1024] });
  });

  it("answers late", async () => {
    await ai.inject(EMBED, "slow:300");
    const start = Date.now();
    await ai.run(EMBED, { text: "a" });
    expect(Date.now() - start).toBeGreaterThanOrEqual(300);
  });

  it("answers in another shape", async () => {
    await ai.inject(EMBED, "malformed");
    expect(await ai.run(EMBED, { text: ["a", "b"] })).toMatchObject({ data: [expect.any(Array)] });
    await ai.inject(DETECT, "malformed");
    const inputs = { task: "detect", image: picture, target: "a clock" };
    expect(await ai.run(DETECT, inputs)).not.toHaveProperty("objects");
    await ai.inject(DESCRIBE, "malformed");
    await expect(answer(ask({ caption: text }))).rejects.toThrow(SyntaxError);
  });
});
