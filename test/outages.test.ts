import { beforeAll, describe, expect, it } from "vitest";
import { MODELS } from "../src/config.ts";
import { fixture, type Json } from "./client.ts";
import { askDeployed } from "./deployed.ts";
import { localAi } from "./local/bindings.ts";
import { buildTrip } from "./trip.ts";

let key: string;
let video: Json;
let boats: Json;

beforeAll(async () => {
  const trip = await buildTrip();
  ({ video, boats } = trip);
  ({ key } = trip.client);
}, 60_000);

/** As the binding fails where the service does. */
const down = {
  query: () => Promise.reject(new Error("VECTOR_QUERY_ERROR: Status + 503")),
  getByIds: () => Promise.reject(new Error("VECTOR_GET_ERROR: Status + 503")),
} as unknown as VectorizeIndex;

const NO_VECTORS = { TEXT_VECTORS: down, PICTURE_VECTORS: down };
const NO_TEXT_VECTORS = { TEXT_VECTORS: down };
const NO_EMBEDDER = { PICTURE_EMBEDDINGS_URL: "http://127.0.0.1:1/" };
const NO_SPACE = { PICTURE_EMBEDDINGS_URL: "" };

function search(settings: Partial<Env>, json: object): Promise<Response> {
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(json) };
  return askDeployed(settings, key, "/index/trip/search", init);
}

async function searchBy(settings: Partial<Env>, file: string, query = ""): Promise<Response> {
  const body = new FormData();
  const type = file.endsWith(".mp4") ? "video" : "image";
  body.append(`${type}_file`, await fixture(file));
  if (query !== "") body.append("query", query);
  return askDeployed(settings, key, `/index/trip/search_${type}`, { method: "POST", body });
}

async function firstOf(response: Response): Promise<Json> {
  expect(response.status).toBe(200);
  return (await response.json<Json>()).segments[0];
}

async function requireRefusal(response: Response) {
  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({ detail: expect.stringMatching(/^The .+[.]$/) });
}

describe.each<[string, Partial<Env>]>([
  ["the vectors' index is", NO_VECTORS],
  ["the picture embedder is", NO_EMBEDDER],
  ["both are", { ...NO_VECTORS, ...NO_EMBEDDER }],
])("while %s out", (_, settings) => {
  it("words find what they find by themselves", async () => {
    const first = await firstOf(await search(settings, { query: "two goats" }));
    expect(first).toMatchObject({ asset_id: video.asset_id, signals: { told: 1 } });
    expect(first.signals).not.toHaveProperty("picture");
  });

  it("a picture finds itself", async () => {
    const first = await firstOf(await searchBy(settings, "boats-crop.jpg"));
    expect(first.asset_id).toBe(boats.asset_id);
    expect(first.score).toBeGreaterThan(0.8);
  });

  it("footage finds itself", async () => {
    const first = await firstOf(await searchBy(settings, "clip.mp4"));
    expect(first.asset_id).toBe(video.asset_id);
    expect(first.signals.same).toBeGreaterThan(0.9);
  });

  it("a picture that isn't there is answered with what is out", async () => {
    await requireRefusal(await searchBy(settings, "clock.jpg"));
  });

  it("a picture that isn't there leaves it to the words beside it", async () => {
    const first = await firstOf(await searchBy(settings, "clock.jpg", "goats"));
    expect(first).toMatchObject({ asset_id: video.asset_id, signals: { told: 1 } });
  });
});

describe("while the vectors' index is out", () => {
  it("what is stored is like nothing that can be told", async () => {
    await requireRefusal(await search(NO_VECTORS, { similar_to: boats.asset_id }));
  });

  it("an answer goes by words", async () => {
    const path = "/index/trip/answer?query=Who+lives+with+the+goats%3F&language=en-x-out";
    const response = await askDeployed(NO_VECTORS, key, path);
    expect(await response.json()).toMatchObject({ grounded: true });
  });
});

describe("without a picture space", () => {
  it("a picture finds itself while its caption can't be had", async () => {
    await localAi().inject(MODELS.describe.id, "3040");
    const first = await firstOf(await searchBy(NO_SPACE, "boats-crop.jpg"));
    expect(first.asset_id).toBe(boats.asset_id);
  });

  it("one that isn't there is answered with what is out", async () => {
    await localAi().inject(MODELS.describe.id, "3040");
    await requireRefusal(await searchBy(NO_SPACE, "clock.jpg"));
    await requireRefusal(await searchBy({ ...NO_SPACE, ...NO_TEXT_VECTORS }, "clock.jpg"));
  });
});
