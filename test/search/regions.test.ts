import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { localImages } from "../../local/local-images.ts";
import { LOCALIZATION, MODELS } from "../../src/config.ts";
import { localizeHits } from "../../src/search/localization.ts";
import { makeSearchRequest } from "../../src/search/request.ts";
import { search as searchIndex } from "../../src/search/search.ts";
import { localAi } from "../local/bindings.ts";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";
import { decodeMask } from "../support/coco-mask.ts";
import { assetRefOf, updateSegments } from "../support/store-queries.ts";

const images = localImages(env);
let client: Client;
let clock: Json;
let boats: Json;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "photos" } });
  const add = async (name: string) => {
    const form = { image_file: await fixture(name) };
    return client.json("POST", "/index/photos/image", { form });
  };
  [clock, boats] = [await add("clock.jpg"), await add("boats.jpg")];
  await Promise.all([clock, boats].map((asset) => client.waitForAsset("photos", asset)));
});

/** Searches, and returns the hit of an asset. */
async function findHit({ asset_id }: Json, json: object): Promise<Json> {
  const { segments } = await client.json("POST", "/index/photos/search", { json });
  return segments.find((hit: Json) => hit.asset_id === asset_id);
}

/** Compares a mask with the clock's disc. */
function compareWithDisc({
  size: [height, width],
  counts,
}: Json): [recall: number, precision: number] {
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

describe("boxes of a hit", () => {
  it("are the stored ones whose label is in the query", async () => {
    const { boxes } = await findHit(clock, { query: "clocks", use_boxes: true });
    expect(boxes).toEqual([expect.objectContaining({ label: "clock" })]);
    const [{ score, x, y, width, height }] = boxes;
    expect(score).toBeGreaterThan(0.3);
    for (const [side, expected] of [
      [x, 0.245],
      [y, 0.16],
      [x + width, 0.755],
      [y + height, 0.84],
    ] as const) {
      expect(Math.abs(side - expected)).toBeLessThan(0.07);
    }
  });

  it("with `use_boxes` are evidence, and raise the score of a hit without matching text", async () => {
    await updateSegments(boats, "caption_model = 'm', caption = '', labels = '[]'");
    const [withoutBoxes, withBoxes] = [
      await findHit(boats, { query: "boats" }),
      await findHit(boats, { query: "boats", use_boxes: true }),
    ];
    expect(withoutBoxes.signals).not.toHaveProperty("label_coverage");
    expect(withBoxes.signals.label_coverage).toBeCloseTo(1, 2);
    expect(withBoxes.score).toBeGreaterThan(withoutBoxes.score);
    expect(withBoxes.evidence).toContainEqual(
      expect.objectContaining({
        kind: "visual",
        text: expect.stringContaining("<mark>boat</mark>"),
      }),
    );
  });

  it("without a stored label are detected, and labelled with the query's phrase", async () => {
    const query = "photo of two ships";
    const { boxes, evidence } = await findHit(boats, { query, use_boxes: true });
    expect(boxes.length).toBeGreaterThan(0);
    const visual = evidence.filter(({ kind }: Json) => kind === "visual" || kind === "caption");
    const score = Math.max(...visual.map((one: Json) => one.score));
    for (const box of boxes) {
      expect(box).toMatchObject({ label: "two ships", score });
      expect(Math.min(box.x, box.y)).toBeGreaterThanOrEqual(0);
      expect(Math.max(box.x + box.width, box.y + box.height)).toBeLessThanOrEqual(1 + 1e-9);
    }
    expect((await findHit(clock, { query, use_boxes: true })).boxes).toEqual([]);
  });

  it("are empty if the detection model fails, or returns an invalid response", async () => {
    const json = { query: "ships", use_boxes: true, asset_ids: [boats.asset_id] };
    for (const fault of ["3040", "malformed"] as const) {
      await localAi().inject(MODELS.detect.id, fault);
      expect((await findHit(boats, json)).boxes).toEqual([]);
    }
    expect((await findHit(boats, json)).boxes).not.toEqual([]);
  });

  it("cost no model call if they are stored, or if the query names no object", async () => {
    await localAi().inject(MODELS.detect.id, "5007");
    const options = { use_boxes: true, asset_ids: [boats.asset_id] };
    expect((await findHit(boats, { query: "where is it?", ...options }))?.boxes ?? []).toEqual([]);
    expect((await findHit(boats, { query: "boats", ...options })).boxes).not.toEqual([]);
    expect((await findHit(boats, { similar_to: clock.asset_id, ...options })).boxes).toEqual([]);
    expect((await findHit(boats, { query: "ships", ...options })).boxes).toEqual([]);
    expect((await findHit(boats, { query: "ships", ...options })).boxes).not.toEqual([]);
  });
});

describe("a search by example with an excluded word", () => {
  it("returns neither boxes nor a mask of the excluded object", async () => {
    const excluded = JSON.stringify({ label: "dog", score: 1, x: 0, y: 0, width: 1, height: 1 });
    await updateSegments(boats, "boxes = json_insert(boxes, '$[#]', json(?))", excluded);
    const options = { use_boxes: true, use_masks: true, similar_to: clock.asset_id };
    const [stored, detected] = [
      await findHit(boats, { ...options, query: "-dog" }),
      await findHit(boats, { ...options, query: "-ship" }),
    ];
    expect(stored).toMatchObject({ boxes: [], mask: null });
    expect(detected).toMatchObject({ boxes: [], mask: null });
  });
});

describe("the mask of a hit", () => {
  it("covers the object that the query names", async () => {
    const { mask, boxes } = await findHit(clock, { query: "clock", use_masks: true });
    expect(boxes).toBeNull();
    expect(mask.size).toEqual([360, 480]);
    const [recall, precision] = compareWithDisc(mask);
    expect(Math.min(recall, precision)).toBeGreaterThan(0.8);
  });

  it("is null if it isn't requested, if nothing is found, or if segmentation fails", async () => {
    expect((await findHit(clock, { query: "clock" })).mask).toBeNull();
    const options = { use_boxes: true, use_masks: true };
    expect(await findHit(clock, { query: "ships", ...options })).toMatchObject({
      boxes: [],
      mask: null,
    });
    await images.inject("9523");
    const json = { query: "clock", ...options, asset_ids: [clock.asset_id] };
    expect(await findHit(clock, json)).toMatchObject({ boxes: [{ label: "clock" }], mask: null });
  });

  it("is stored in the results of a queued search, like its boxes", async () => {
    const json = { query: "clock", use_boxes: true, use_masks: true, queue_job: true };
    const { job_id } = await client.json("POST", "/index/photos/search", { json });
    const { result } = await client.waitForJob(job_id);
    const hit = result.segments.find(({ asset_id }: Json) => asset_id === clock.asset_id);
    expect(hit).toMatchObject({ boxes: [{ label: "clock" }], mask: { size: [360, 480] } });
  });
});

it("a page detects objects in at most `LOCALIZATION.detectionCount` hits", async () => {
  const index = { ...(await assetRefOf(boats)), name: "regions", calibration: null };
  const stack = { ...env, IMAGES: images };
  const request = makeSearchRequest({ query: "ships", topK: 10 });
  const { hits, query } = await searchIndex(stack, index, request);
  const ships = hits.find(({ asset }) => asset.assetId === boats.asset_id)!;
  const page = Array.from({ length: LOCALIZATION.detectionCount + 2 }, () => ({ ...ships }));
  const options = { useBoxes: true, useMasks: false };
  const localized = await localizeHits(stack, page, query, options);
  const hasBoxes = localized.map(({ boxes }) => boxes!.length > 0);
  expect(hasBoxes).toEqual(page.map((_, i) => i < LOCALIZATION.detectionCount));
});
