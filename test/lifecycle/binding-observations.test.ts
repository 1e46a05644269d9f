import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { localImages } from "../../local/local-images.ts";
import { MODELS } from "../../src/config.ts";
import { CHECKED_INDEX } from "../../src/ids.ts";
import { EMBEDDING_FORMS } from "../../src/models/embedding-forms.ts";
import { queryVectors } from "../../src/store/vectorize/vectors.ts";
import { localAi } from "../local/bindings.ts";
import { Client, fixture, type Json, newClient } from "../support/client.ts";
import { run } from "../support/store-queries.ts";

const PATH = "/health/bindings";

let client: Client;

beforeAll(async () => {
  client = await newClient(["read", "write", "operator"]);
});

async function base64(name: string): Promise<string> {
  return Buffer.from(await (await fixture(name)).arrayBuffer()).toString("base64");
}

const observe = (json: object = {}): Promise<Json> => client.json("POST", PATH, { json });

describe("observing the bindings", () => {
  it("needs a key with the scope operator", async () => {
    const writer = await newClient(["read", "write", "admin"]);
    expect((await writer.send("POST", PATH)).status).toBe(403);
    expect((await new Client("").send("POST", PATH)).status).toBe(401);
  });

  it("calls neither FRAMES, IMAGES nor a model without a file", async () => {
    const { contact_sheet, frame, decoder, codecs, images, descriptions, image_embeddings } =
      await observe();
    const observed = { contact_sheet, frame, decoder, codecs, images, descriptions };
    expect({ ...observed, image_embeddings }).toEqual({
      contact_sheet: null,
      frame: null,
      decoder: null,
      codecs: [],
      images: [],
      descriptions: [],
      image_embeddings: [],
    });
  });

  it("returns the tiles of a contact sheet, and a frame, of a video", async () => {
    const video = await base64("clip.mp4");
    const { contact_sheet: sheet, frame, decoder } = await observe({ video });
    const { value } = sheet;
    expect(sheet.error).toBeNull();
    expect(value.tile_lumas).toHaveLength(6);
    expect(value.size_of).toBe(env.SHEET_SIZE_OF);
    expect(value.width).toBeGreaterThanOrEqual(value.columns * 64);
    expect(value.height).toBeGreaterThanOrEqual(Math.ceil(6 / value.columns) * 36);
    expect(frame.value).toMatchObject({ width: 320, height: 180 });
    expect(decoder.error).toBeNull();
    expect(decoder.value).toMatchObject({ width: 320, height: 180 });
    expect(Math.abs(decoder.value.luma - frame.value.luma)).toBeLessThan(5);
    // The text of the first 3 seconds is brighter than the house after it.
    const [first, , , fourth] = value.tile_lumas;
    expect(first - fourth).toBeGreaterThan(50);
    expect(Math.abs(frame.value.luma - fourth)).toBeLessThan(20);
  });

  it("returns whether FRAMES decodes each video of another codec", async () => {
    const videos = await Promise.all(["vp9.mp4", "clip.mp4", "boats.jpg"].map(base64));
    const [vp9, h264, photo] = (await observe({ videos })).codecs;
    expect(vp9).toEqual({
      codec: "vp9",
      is_listed: false,
      value: null,
      error: { code: "9412", meaning: "unreadable_frame" },
    });
    expect(h264).toMatchObject({ codec: "avc", is_listed: true, error: null });
    expect(h264.value).toMatchObject({ width: 320, height: 180 });
    const meaning = "unreadable_container";
    expect(photo).toMatchObject({ codec: null, is_listed: false, error: { meaning } });
  });

  it("returns the code of each image that is refused, and the size of others", async () => {
    const images = await Promise.all(["boats.jpg", "truncated.jpg"].map(base64));
    const { images: observed } = await observe({ images });
    expect(observed).toEqual([
      { value: { format: "image/jpeg", width: 1024, height: 819 }, error: null },
      { value: null, error: { code: "9412", meaning: "unreadable_image" } },
    ]);
    await localImages(env).inject("9522");
    const [busy] = (await observe({ images: images.slice(0, 1) })).images;
    expect(busy.error).toEqual({ code: "9522", meaning: "upstream_unavailable" });
  });

  it("returns the reply to each form of a request for JSON, or the code", async () => {
    await localAi().behave(MODELS.describe.id, "jsonForms", ["bare", "json_object"]);
    const { descriptions } = await observe({ images: [await base64("words.jpg")] });
    const [wrapped, bare, inPrompt] = descriptions;
    expect(wrapped).toEqual({
      form: "wrapped",
      value: null,
      error: { code: "5006", meaning: "model_request_rejected" },
    });
    for (const [form, reply] of [
      ["bare", bare],
      ["json_object", inPrompt],
    ] as const) {
      expect(reply).toMatchObject({ form, error: null });
      expect(JSON.parse(reply.value.choices[0].message.content).text).toMatch(/lantern/i);
    }
    await localAi().behave(MODELS.describe.id, "jsonForms", null);
  });

  it("returns an outline of the output for each form of an image embedding, or the code", async () => {
    const { image_embeddings: observed } = await observe({ images: [await base64("words.jpg")] });
    expect(observed.map(({ form, input }: Json) => [form, input])).toEqual(
      EMBEDDING_FORMS.flatMap((form) => [
        [form, "text"],
        [form, "image"],
      ]),
    );
    const item = { object: "string", index: "number", embedding: { length: 1024, item: "number" } };
    const outline = { object: "string", model: "string", data: { length: 1, item } };
    for (const { form, value, error } of observed) {
      if (form === "messages") expect(value).toEqual({ dimensions: 1024, outline });
      else expect(error).toEqual({ code: "5006", meaning: "model_request_rejected" });
    }
  });

  it("returns the code of an image embedding model that is missing", async () => {
    await localAi().inject(MODELS.embedImage.id, "5007", 8);
    const { image_embeddings: observed } = await observe({ images: [await base64("words.jpg")] });
    const codes = observed.map(({ error }: Json) => error.code);
    expect(codes).toEqual(Array.from({ length: 8 }, () => "5007"));
  });

  it("returns how long a vector takes to be found, and its score beside the exact cosine", async () => {
    const { vectors } = await observe();
    expect(vectors.error).toBeNull();
    const { cosine, score, exact_score, found_after_seconds } = vectors.value;
    expect(found_after_seconds).toBeGreaterThanOrEqual(0);
    expect(cosine).toBeGreaterThan(0.5);
    expect(cosine).toBeLessThan(0.95);
    expect(score).toBeCloseTo(cosine, 4);
    expect(exact_score).toBeCloseTo(cosine, 4);
  });

  it("deletes the vector that it has written", async () => {
    await observe();
    const values = Array.from({ length: MODELS.embedText.dimensions }, () => 1);
    await expect
      .poll(() => queryVectors(env.TEXT_VECTORS_1, CHECKED_INDEX, values, 10, {}))
      .toEqual([]);
  });

  it("returns which limits D1 has", async () => {
    const { database } = await observe();
    expect(database).toEqual([
      { limit: "parameters", size: 100, error: null },
      { limit: "parameters", size: 101, error: { code: "D1_ERROR", meaning: "internal" } },
      { limit: "value_bytes", size: 2_000_000, error: null },
      { limit: "statement_bytes", size: 100_000, error: null },
    ]);
  });

  it("goes on if a binding doesn't answer", async () => {
    await localAi().inject(MODELS.describe.id, "3040", 3);
    const { descriptions, database } = await observe({ images: [await base64("words.jpg")] });
    expect(descriptions.map(({ error }: Json) => error.code)).toEqual(["3040", "3040", "3040"]);
    expect(database).toHaveLength(4);
  });

  it("is refused when the cost of the account's day is used up", async () => {
    const { account_id } = await client.json("POST", "/init");
    const limits = JSON.stringify({ cost_usd_per_day: -1 });
    await run("UPDATE accounts SET limits = ? WHERE account_id = ?", limits, account_id);
    expect((await client.send("POST", PATH)).status).toBe(429);
    await run("UPDATE accounts SET limits = '{}' WHERE account_id = ?", account_id);
  });

  it("rejects what isn't base64, and more than three images", async () => {
    const json = { video: "é", images: ["", "", "", ""] };
    expect(await client.issues("POST", PATH, { json })).toEqual([
      [["body", "video"], "value_error"],
      [["body", "images"], "too_long"],
    ]);
  });
});
