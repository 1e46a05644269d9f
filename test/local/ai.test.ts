import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { localMedia } from "../../local/local-media.ts";
import { MODELS } from "../../src/config.ts";
import { waitUntil } from "../support/wait.ts";
import { WATCHDOG_MS } from "../support/watchdog.ts";
import { errorOf, localAi, rejectionMessage } from "./bindings.ts";

const ai = localAi();
const EMBED = MODELS.embedText.id;
const DESCRIBE = MODELS.describe.id;
const TRANSCRIBE = MODELS.transcribe.id;
const DETECT = MODELS.detect.id;

const text = { type: "string" };
const textList = { type: "array", items: text };
const objects = {
  type: "array",
  items: { type: "object", properties: { label: text, box_2d: { type: "array" } } },
};
let image = "";

/** Makes a request for JSON facts about an image with these properties. */
function describeRequest(properties: Record<string, object>, required: string[] = [], url = image) {
  return {
    messages: [
      { role: "system", content: "Describe the picture." },
      { role: "user", content: [{ type: "image_url", image_url: { url } }] },
    ],
    response_format: {
      type: "json_schema",
      json_schema: { name: "image_facts", schema: { type: "object", properties, required } },
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

beforeAll(async () => {
  const clip = await fetch(`${inject("filesOrigin")}/clip.mp4`);
  const frame = localMedia(env)
    .input(clip.body!)
    .output({ mode: "frame", time: "1s", format: "jpg" });
  const bytes = await new Response(await frame.media()).bytes();
  image = `data:image/jpeg;base64,${Buffer.from(bytes).toString("base64")}`;
});

describe("the image description model", () => {
  it("returns the properties of the schema that it knows, and no others", async () => {
    const output = await chat(describeRequest({ text, labels: textList, objects }, ["text"]));
    expect(output).toMatchObject({ object: "chat.completion", model: "template" });
    expect(output.choices[0]).toMatchObject({ finish_reason: "stop", index: 0 });
    expect(output.usage?.total_tokens).toBeGreaterThan(256);
    const facts = JSON.parse(output.choices[0]?.message.content ?? "");
    expect(Object.keys(facts).sort()).toEqual(["labels", "objects", "text"]);
    expect(facts.text).toMatch(/hello/i);
    for (const object of facts.objects) {
      expect(Object.keys(object).sort()).toEqual(["box_2d", "label"]);
      expect(object.box_2d).toHaveLength(4);
      expect(object.box_2d.every((n: number) => Number.isInteger(n) && n >= 0 && n <= 1000)).toBe(
        true,
      );
    }
  });

  it("accepts a bare schema and leaves out unknown optional properties", async () => {
    const inputs = describeRequest({});
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
    ["a conversation and no image", () => ({ ...describeRequest({}), ...conversation }), /^5007: /],
    ["free text", () => ({ messages: describeRequest({}).messages }), /^5007: /],
    [
      "a required property that it doesn't know",
      () => describeRequest({ mood: text }, ["mood"]),
      /^5007: /,
    ],
    ["a property of another type", () => describeRequest({ text: textList }, ["text"]), /^5007: /],
    ["a streamed conversation", () => ({ ...conversation, stream: true }), /^5007: /],
    ["an image by URL", () => describeRequest({}, [], "https://x.test/a.jpg"), /^5004: .*https$/],
    [
      "data that is no image",
      () => describeRequest({}, [], "data:image/png;base64,aGVsbG8="),
      /^3010: /,
    ],
    ["10 MB", () => describeRequest({}, [], `${image}${"A".repeat(10_000_000)}`), /^3006: /],
    ["streamed JSON", () => ({ ...describeRequest({}), stream: true }), /^5006: /],
  ])("rejects a request with %s", async ([, inputs, message]) => {
    expect(await rejectionMessage(ai.run(DESCRIBE, inputs()))).toMatch(message);
  });
});

describe("the object detection model", () => {
  let clock = "";
  const detect = (target: string, others: object = {}) =>
    ai.run(DETECT, { task: "detect", image: clock, target, stream: false, ...others });

  beforeAll(async () => {
    const bytes = await (await fetch(`${inject("filesOrigin")}/clock.jpg`)).bytes();
    clock = `data:image/jpeg;base64,${Buffer.from(bytes).toString("base64")}`;
  });

  it("returns a box in fractions without other fields", async () => {
    const output = await detect("a round clock", { reasoning: false, max_objects: 1 });
    if (!("objects" in output)) throw new Error("no objects");
    expect(output.objects).toHaveLength(1);
    const { x_min, y_min, x_max, y_max, ...others } = output.objects[0]!;
    expect(others).toEqual({});
    for (const [side, expected] of [
      [x_min, 0.245],
      [y_min, 0.16],
      [x_max, 0.755],
      [y_max, 0.84],
    ] as const) {
      expect(Math.abs(side - expected)).toBeLessThan(0.07);
    }
  });

  it.each(["a dog", "an alethiometer", "happiness"])("finds no box for %s", async (target) => {
    expect(await detect(target)).toMatchObject({ objects: [], finish_reason: "stop" });
  });

  it.for<[string, object, RegExp]>([
    ["no target", { target: undefined }, /^5006: /],
    ["no image", { image: undefined }, /^5006: /],
    ["an empty target", { target: " " }, /^5006: /],
    ["a stream", { stream: true }, /^5006: .*stream/],
    ["max_objects 0", { max_objects: 0 }, /^5006: /],
    ["another task", { task: "segment" }, /^5006: /],
    ["a caption", { task: "caption" }, /^5007: /],
    ["an image by URL", { image: "https://x.test/a.jpg" }, /^5004: .*https$/],
    ["data that is no image", { image: "data:image/png;base64,aGVsbG8=" }, /^3010: /],
    ["10 MB", { image: "A".repeat(10_000_000) }, /^3006: /],
  ])("rejects a request with %s", async ([, inputs, message]) => {
    expect(await rejectionMessage(detect("a clock", inputs))).toMatch(message);
  });
});

describe("the speech recognition model", () => {
  it.for<[string, object, RegExp]>([
    ["no audio", {}, /^5006: /],
    ["audio that isn't base64", { audio: "%%%" }, /^5006: /],
    ["a language by its name", { audio: "aGVsbG8=", language: "English" }, /^5006: /],
    ["translation", { audio: "aGVsbG8=", task: "translate" }, /^5007: /],
    ["10 MB", { audio: "A".repeat(10_000_000) }, /^3006: /],
  ])("rejects a request with %s", async ([, inputs, message]) => {
    expect(await rejectionMessage(ai.run(TRANSCRIBE, inputs))).toMatch(message);
  });
});

describe("the stand-in for env.AI", () => {
  it("has no other model", async () => {
    const message = "5007: No such model @cf/openai/whisper-tiny-en or task";
    expect(await rejectionMessage(ai.run("@cf/openai/whisper-tiny-en", {}))).toBe(message);
  });

  it("fails with injected faults in order, each as often as injected", async () => {
    await ai.inject(EMBED, "3036");
    await ai.inject(EMBED, "3040", 2);
    await ai.inject(EMBED, "3007");
    const codes = [];
    for (let i = 0; i < 4; i += 1)
      codes.push((await rejectionMessage(ai.run(EMBED, { text: "a" }))).slice(0, 5));
    expect(codes).toEqual(["3036:", "3040:", "3040:", "3007:"]);
    expect(await ai.run(EMBED, { text: "a" })).toMatchObject({ shape: [1, 1024] });
  });

  it("is late after an injected delay", async () => {
    await ai.inject(EMBED, "slow:300");
    const start = Date.now();
    await ai.run(EMBED, { text: "a" });
    expect(Date.now() - start).toBeGreaterThanOrEqual(300);
  });

  it("waits while a model is busy, or refuses the call if it is to", async () => {
    await ai.inject(EMBED, `busy:${2 * WATCHDOG_MS}`);
    const refused = ai.run(EMBED, { text: "a" }, { rejectIfBusy: true });
    expect(await rejectionMessage(refused)).toBe(
      "3040: Capacity temporarily exceeded, please try again.",
    );
    await ai.inject(EMBED, "busy:300");
    const start = Date.now();
    await ai.run(EMBED, { text: "a" }, { rejectIfBusy: false });
    expect(Date.now() - start).toBeGreaterThanOrEqual(300);
  });

  it("ends a call that is cancelled, and counts it", async () => {
    await ai.inject(EMBED, "slow:20000");
    const controller = new AbortController();
    const call = ai.run(EMBED, { text: "a" }, { signal: controller.signal });
    const ended = errorOf(call);
    await waitUntil(async () => (await ai.countPendingFaults(EMBED)) === 0);
    controller.abort();
    expect((await ended).name).toBe("AbortError");
    await expect.poll(() => ai.takeCancelledCalls(EMBED)).toBe(1);
    expect(await ai.takeCancelledCalls(EMBED)).toBe(0);
  });

  it("ends a stream that is cancelled", async () => {
    await ai.script(MODELS.answer.id, [{ text: "one two", deltaCount: 50, delayMs: 100 }]);
    const controller = new AbortController();
    const { signal } = controller;
    const messages = [{ role: "user", content: "Hello?" }];
    const stream = await ai.run(MODELS.answer.id, { messages, stream: true }, { signal });
    if (!(stream instanceof ReadableStream)) throw new Error("not a stream");
    const reader = stream.getReader();
    await reader.read();
    controller.abort();
    const readOn = async () => {
      while (!(await reader.read()).done);
    };
    await expect(readOn()).rejects.toThrow();
    await expect.poll(() => ai.cancelledStreams(MODELS.answer.id)).toBe(1);
  });

  it("returns malformed outputs after an injected fault", async () => {
    await ai.inject(EMBED, "malformed");
    expect(await ai.run(EMBED, { text: ["a", "b"] })).toMatchObject({ data: [expect.any(Array)] });
    await ai.inject(DETECT, "malformed");
    const inputs = { task: "detect", image, target: "a clock" };
    expect(await ai.run(DETECT, inputs)).not.toHaveProperty("objects");
    await ai.inject(DESCRIBE, "malformed");
    await expect(answer(describeRequest({ caption: text }))).rejects.toThrow(SyntaxError);
  });
});
