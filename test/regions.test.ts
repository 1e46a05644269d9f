import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { localImages } from "../local/local-images.ts";
import { MODELS, REGIONS } from "../src/config.ts";
import type { IndexId } from "../src/ids.ts";
import { locate } from "../src/search/regions.ts";
import { searchFor } from "../src/search/request.ts";
import { search as searchIndex } from "../src/search/search.ts";
import { type Client, fixture, type Json, newClient } from "./client.ts";
import { decodeMask } from "./coco-mask.ts";
import { run } from "./stores.ts";
import { localAi } from "./local/bindings.ts";

const images = localImages(env);
let client: Client;
let clock: Json;
let boats: Json;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "seen" } });
  const add = async (name: string) => {
    const form = { image_file: await fixture(name) };
    return client.json("POST", "/index/seen/image", { form });
  };
  [clock, boats] = [await add("clock.jpg"), await add("boats.jpg")];
  await Promise.all([clock, boats].map((asset) => client.settled("seen", asset)));
}, 60_000);

/** The hit that is this asset. */
async function hitOf({ asset_id }: Json, json: object): Promise<Json> {
  const { segments } = await client.json("POST", "/index/seen/search", { json });
  return segments.find((hit: Json) => hit.asset_id === asset_id);
}

/** Which share of the clock's disc is in the mask, and of the mask in the disc. */
function overlap({ size: [height, width], counts }: Json): [recall: number, precision: number] {
  const pixels = decodeMask({ size: [height, width], counts });
  let [both, inDisc, inMask] = [0, 0, 0];
  for (const [at, value] of pixels.entries()) {
    const [x, y] = [((at % width) / width) * 960, (Math.floor(at / width) / height) * 720];
    const isDisc = (x - 480) ** 2 + (y - 360) ** 2 <= 245 ** 2;
    both += Number(isDisc && value > 0);
    inDisc += Number(isDisc);
    inMask += Number(value > 0);
  }
  return [both / inDisc, both / inMask];
}

describe("boxes", () => {
  it("of what was seen when it was added are there under its name", async () => {
    const { boxes } = await hitOf(clock, { query: "clocks", use_boxes: true });
    expect(boxes).toEqual([expect.objectContaining({ label: "clock" })]);
    const [{ score, x, y, width, height }] = boxes;
    expect(score).toBeGreaterThan(0.3);
    for (const [side, wanted] of [
      [x, 0.245],
      [y, 0.16],
      [x + width, 0.755],
      [y + height, 0.84],
    ] as const) {
      expect(Math.abs(side - wanted)).toBeLessThan(0.07);
    }
  });

  it("say why, and count, where they are asked for and no word is told of them", async () => {
    await run(
      "UPDATE segments SET caption_model = 'm', caption = '', labels = '[]' WHERE asset_id = ?",
      boats.asset_id,
    );
    const [bare, boxed] = [
      await hitOf(boats, { query: "boats" }),
      await hitOf(boats, { query: "boats", use_boxes: true }),
    ];
    expect(bare.signals).not.toHaveProperty("detected");
    expect(boxed.signals.detected).toBe(1);
    expect(boxed.score).toBeGreaterThan(bare.score);
    expect(boxed.evidence).toContainEqual(
      expect.objectContaining({
        kind: "visual",
        text: expect.stringContaining("<mark>boat</mark>"),
      }),
    );
  });

  it("of another thing are pointed at, and called what was asked for", async () => {
    const query = "photo of two ships";
    const { boxes, evidence } = await hitOf(boats, { query, use_boxes: true });
    expect(boxes.length).toBeGreaterThan(0);
    const shown = evidence.filter(({ kind }: Json) => kind === "visual" || kind === "caption");
    const score = Math.max(...shown.map((piece: Json) => piece.score));
    for (const box of boxes) {
      expect(box).toMatchObject({ label: "two ships", score });
      expect(Math.min(box.x, box.y)).toBeGreaterThanOrEqual(0);
      expect(Math.max(box.x + box.width, box.y + box.height)).toBeLessThanOrEqual(1 + 1e-9);
    }
    expect((await hitOf(clock, { query, use_boxes: true })).boxes).toEqual([]);
  });

  it("are none where the model is out, or talks nonsense", async () => {
    const wish = { query: "ships", use_boxes: true, asset_ids: [boats.asset_id] };
    for (const fault of ["3040", "malformed"] as const) {
      await localAi().inject(MODELS.detect.id, fault);
      expect((await hitOf(boats, wish)).boxes).toEqual([]);
    }
    expect((await hitOf(boats, wish)).boxes).not.toEqual([]);
  });

  it("cost no model call where nothing visible is asked about", async () => {
    await localAi().inject(MODELS.detect.id, "5007");
    const only = { use_boxes: true, asset_ids: [boats.asset_id] };
    expect((await hitOf(boats, { query: "where is it?", ...only }))?.boxes ?? []).toEqual([]);
    expect((await hitOf(boats, { query: "boats", ...only })).boxes).not.toEqual([]);
    expect((await hitOf(boats, { similar_to: clock.asset_id, ...only })).boxes).toEqual([]);
    expect((await hitOf(boats, { query: "ships", ...only })).boxes).toEqual([]);
    expect((await hitOf(boats, { query: "ships", ...only })).boxes).not.toEqual([]);
  });
});

describe("a mask", () => {
  it("is of the thing that the query names", async () => {
    const { mask, boxes } = await hitOf(clock, { query: "clock", use_masks: true });
    expect(boxes).toBeNull();
    expect(mask.size).toEqual([360, 480]);
    const [recall, precision] = overlap(mask);
    expect(Math.min(recall, precision)).toBeGreaterThan(0.8);
  });

  it("is none where nothing is asked for, found or cut out", async () => {
    expect((await hitOf(clock, { query: "clock" })).mask).toBeNull();
    const wish = { use_boxes: true, use_masks: true };
    expect(await hitOf(clock, { query: "ships", ...wish })).toMatchObject({
      boxes: [],
      mask: null,
    });
    await images.inject("9523");
    const out = await hitOf(clock, { query: "clock", ...wish, asset_ids: [clock.asset_id] });
    expect(out).toMatchObject({ boxes: [{ label: "clock" }], mask: null });
  });

  it("and boxes are kept with a queued search", async () => {
    const json = { query: "clock", use_boxes: true, use_masks: true, queue_job: true };
    const { job_id } = await client.json("POST", "/index/seen/search", { json });
    const { result } = await client.finished(job_id);
    const hit = result.segments.find(({ asset_id }: Json) => asset_id === clock.asset_id);
    expect(hit).toMatchObject({ boxes: [{ label: "clock" }], mask: { size: [360, 480] } });
  });
});

it("a page has so many model calls, and the rest of it no boxes", async () => {
  const row = await env.DB.prepare("SELECT index_id FROM assets WHERE asset_id = ?")
    .bind(boats.asset_id)
    .first<{ index_id: IndexId }>();
  const stack = { ...env, IMAGES: images };
  const request = searchFor({ query: "ships", topK: 10 });
  const { hits } = await searchIndex(stack, row!.index_id, request);
  const ships = hits.find(({ asset }) => asset.assetId === boats.asset_id)!;
  const page = Array.from({ length: REGIONS.detections + 2 }, () => ships);
  const wish = { query: "ships", useBoxes: true, useMasks: false };
  const located = await locate(stack, page, wish);
  const seen = located.map(({ boxes }) => boxes!.length > 0);
  expect(seen).toEqual(page.map((_, i) => i < REGIONS.detections));
});
