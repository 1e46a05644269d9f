import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { JSON_FORMS, type JsonForm } from "../../local/json-format.ts";
import { localImages } from "../../local/local-images.ts";
import { localMedia } from "../../local/local-media.ts";
import { MODELS } from "../../src/config.ts";
import { describe as describeStep } from "../../src/ingest/steps/describe.ts";
import { findFirstIdentical } from "../../src/ingest/steps/embed.ts";
import { decodeJpeg, encodeJpeg } from "../../src/media/pixels/jpeg.ts";
import { describeImage } from "../../src/models/describe.ts";
import { getAsset } from "../../src/store/d1/assets.ts";
import { indexDatabase } from "../../src/store/index-database/index-database.ts";
import { listSegments } from "../../src/store/index-database/segments.ts";
import { vectorPair } from "../../src/store/vectorize/vector-pairs.ts";
import type { Segment } from "../../src/types.ts";
import { localAi } from "../local/bindings.ts";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";
import { aiThatReturns, metered } from "../support/generated.ts";
import { startAsset } from "../support/ingest-helpers.ts";
import { updateSegments, assetRefOf } from "../support/store-queries.ts";

const MODEL = MODELS.describe.id;
const SENTENCES = JSON.stringify({
  caption: "A dog runs on grass. A man watches it from a bench.",
  text: "KEEP OFF",
  labels: ["dog"],
  objects: [],
});

let jpeg: Uint8Array;
let client: Client;

beforeAll(async () => {
  jpeg = new Uint8Array(await (await fixture("words.jpg")).arrayBuffer());
  client = await newClient();
});

/** Describes an image and counts the model calls. */
async function describeCounted() {
  const { ai, used } = metered(env.AI);
  const description = await describeImage(ai, jpeg);
  return { description, modelCalls: used.modelCalls };
}

const errorCode = (ai: Ai = env.AI) =>
  describeImage(ai, jpeg).then(
    () => null,
    ({ code }: Json) => code,
  );

describe("a model that accepts one form of a request for JSON", () => {
  it.each<JsonForm>(["json_object", "bare", "wrapped"])(
    "describes images, at once from the second call on: %s",
    async (form) => {
      await localAi().behave(MODEL, "jsonForms", [form]);
      const first = await describeCounted();
      expect(first.description.text).toMatch(/lantern/i);
      expect(first.modelCalls).toBeGreaterThan(1); // the test before ended with another form
      expect(await describeCounted()).toEqual({ ...first, modelCalls: 1 });
    },
  );

  it("gets the schema in the prompt if it takes no schema", async () => {
    await localAi().behave(MODEL, "jsonForms", ["json_object"]);
    await describeImage(env.AI, jpeg); // the form is known from here on
    await localAi().script(MODEL, [{ text: SENTENCES }]);
    await describeImage(env.AI, jpeg);
    const [input] = await localAi().scriptedInputs(MODEL);
    expect(input).toMatchObject({
      response_format: { type: "json_object" },
      messages: [{ role: "system", content: expect.stringContaining('"caption"') }, {}],
    });
  });

  it("is reported as model_request_rejected if it is none of the known forms", async () => {
    await localAi().behave(MODEL, "jsonForms", []);
    expect(await errorCode()).toBe("model_request_rejected");
    await localAi().behave(MODEL, "jsonForms", [...JSON_FORMS]);
    expect(await errorCode()).toBeNull();
  });
});

describe("a model's reply", () => {
  it.each(["fenced", "prose"] as const)("is read at the first attempt: %s", async (fault) => {
    const expected = await describeCounted();
    await localAi().inject(MODEL, fault);
    expect(await describeCounted()).toEqual(expected);
  });

  it("that is cut off in its caption gives a shorter caption", async () => {
    await localAi().script(MODEL, [{ text: SENTENCES }]);
    await localAi().inject(MODEL, "cut");
    expect(await describeCounted()).toEqual({
      description: {
        model: MODEL,
        caption: "A dog runs on grass. A man watches it from",
        text: "",
        labels: [],
        boxes: [],
      },
      modelCalls: 1,
    });
  });

  it("that has no caption is requested again at another temperature", async () => {
    await localAi().script(MODEL, [{ text: "I can't help with that." }, { text: SENTENCES }]);
    expect((await describeImage(env.AI, jpeg)).text).toBe("KEEP OFF");
    const [first, second] = await localAi().scriptedInputs(MODEL);
    expect(first).toMatchObject({ temperature: 0, max_tokens: 2000 });
    expect(second).toEqual({ ...(first as object), temperature: 0.7 });
  });

  it("is read without the reasoning before it", async () => {
    await localAi().script(MODEL, [{ text: `<think>{"caption":"Draft"}</think>${SENTENCES}` }]);
    expect((await describeImage(env.AI, jpeg)).caption).toMatch(/^A dog/);
  });

  it.each(["malformed", "5024"] as const)(
    "that is unusable twice is model_output_unreadable: %s",
    async (fault) => {
      await localAi().inject(MODEL, fault, 2);
      expect(await errorCode()).toBe("model_output_unreadable");
    },
  );

  const facts = { caption: "A dog runs on grass." };
  const choice = (content: unknown) => ({ choices: [{ message: { content } }] });
  it.each<[string, unknown]>([
    ["a completion", choice(JSON.stringify(facts))],
    ["a completion with parsed JSON", choice(facts)],
    ["the response of an older model", { response: JSON.stringify(facts) }],
    ["the parsed JSON of an older model", { response: facts }],
  ])("is read from %s", async (_, response) => {
    expect(await describeImage(aiThatReturns(response), jpeg)).toMatchObject(facts);
  });

  it.each<[string, unknown, string]>([
    ["no text", choice(null), "model_output_unreadable"],
    ["no choices", { choices: [] }, "model_output_unreadable"],
    ["no response", undefined, "upstream_failed"],
  ])("with %s is an error with a code", async (_, response, code) => {
    expect(await errorCode(aiThatReturns(response))).toBe(code);
  });

  it("during an outage isn't unreadable, but unavailable", async () => {
    await localAi().inject(MODEL, "3040");
    expect(await errorCode()).toBe("upstream_unavailable");
  });
});

it("an image without a description keeps its alternative text as its caption", async () => {
  const { asset } = await startAsset(client, "alt-text", "boats.jpg");
  await client.waitForAsset("alt-text", asset);
  await updateSegments(asset, "described_at = NULL");
  const stored = await getAsset(env.DB, asset.asset_id);
  await localAi().inject(MODEL, "malformed", 2);
  const described = { ...stored!, source: { kind: "url" as const, alt_text: "Two boats" } };
  await describeStep({ ...env, IMAGES: localImages(env) }, described, 0, 1);
  const [segment] = await listSegments(indexDatabase(env, stored!), asset.asset_id, 0, 1);
  expect(segment).toMatchObject({
    caption: "Two boats.",
    captionModel: null,
    error: { code: "model_output_unreadable" },
    hasKeyframe: true,
  });
});

it("keyframes that show the same are described once", async () => {
  const { asset } = await startAsset(client, "still", "speech.mp4");
  await client.waitForAsset("still", asset);
  await updateSegments(asset, "described_at = NULL, caption = ''");
  const stored = await getAsset(env.DB, asset.asset_id);
  const { ai, used } = metered(env.AI);
  await describeStep({ ...env, AI: ai, FRAMES: localMedia(env) }, stored!, 0, 1);
  const segments = await listSegments(indexDatabase(env, stored!), asset.asset_id, 0, 10);
  expect(segments.length).toBeGreaterThan(1);
  expect(used.modelCalls).toBe(1);
  expect(segments.map(({ described }) => described)).toEqual(segments.map(() => true));
  const of = ({ caption, labels, captionModel }: Segment) => ({ caption, labels, captionModel });
  expect(segments.map(of)).toEqual(segments.map(() => of(segments[0]!)));
});

it("keyframes that show the same are embedded once, unless their descriptions differ", async () => {
  const other = new Uint8Array(await (await fixture("boats.jpg")).arrayBuffer());
  const encoded = await encodeJpeg(await decodeJpeg(jpeg, (image) => structuredClone(image)), 80);
  const segment = { caption: "A poster.", onScreenText: "", labels: [], boxes: [] };
  const segments = [segment, segment, segment, { ...segment, caption: "A page." }, segment];
  const keyframes = [jpeg, encoded, other, jpeg, other];
  expect(encoded).not.toEqual(jpeg);
  expect(await findFirstIdentical(segments, keyframes)).toEqual([0, 0, 2, 3, 2]);
});

describe("an asset whose descriptions can't be read", () => {
  const warningOf = (subject: string) => ({
    code: "model_output_unreadable",
    message: expect.stringContaining(`${subject} can't be described.`),
  });

  it("becomes ready with a warning if it is a video", async () => {
    const segments = 2;
    await localAi().inject(MODEL, "malformed", 2 * segments);
    const { asset } = await startAsset(client, "video", "clip.mp4");
    expect(await client.waitForAsset("video", asset)).toMatchObject({
      state: "ready",
      error: null,
      segments,
      warnings: [warningOf("2 of 2 segments")],
    });
  });

  it("becomes ready with a warning and is found by image if it is an image", async () => {
    await localAi().inject(MODEL, "malformed", 2);
    const { asset } = await startAsset(client, "image", "boats.jpg");
    expect(await client.waitForAsset("image", asset)).toMatchObject({
      state: "ready",
      error: null,
      segments: 1,
      warnings: [warningOf("The image")],
    });
    const form = { image_file: await fixture("boats-crop.jpg") };
    const { segments } = await client.json("POST", "/index/image/search_image", { form });
    expect(segments).toMatchObject([
      { asset_id: asset.asset_id, caption: "", thumbnail_url: expect.any(String) },
    ]);
    const { image } = vectorPair(env, await assetRefOf(asset));
    const vectors = await image.getByIds([`${segments[0].segment_id}:image`]);
    expect(vectors).toHaveLength(1);
    const { nodes } = await client.json("GET", "/index/image/traverse");
    const codes = nodes[0].health.findings.map(({ code }: Json) => code);
    expect(codes).not.toContain("vectors_unexpected");
    expect(codes).not.toContain("keyframes_missing");
  });
});
