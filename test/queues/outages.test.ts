import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { MODELS } from "../../src/config.ts";
import { segment } from "../../src/ingest/steps/segment.ts";
import { sweep } from "../../src/lifecycle/sweep.ts";
import { getAsset } from "../../src/store/d1/assets.ts";
import { localAi } from "../local/bindings.ts";
import { fixture, type Json } from "../support/client.ts";
import { fetchDeployed } from "../support/deployed.ts";
import { createSampleIndex } from "../support/sample-index.ts";

let key: string;
let video: Json;
let boats: Json;

beforeAll(async () => {
  const sample = await createSampleIndex();
  ({ video, boats } = sample);
  ({ key } = sample.client);
});

/** A Vectorize binding whose service is unavailable. */
const unavailableIndex = {
  query: () => Promise.reject(new Error("VECTOR_QUERY_ERROR: Status + 503")),
  getByIds: () => Promise.reject(new Error("VECTOR_GET_ERROR: Status + 503")),
} as unknown as VectorizeIndex;

const NO_VECTORS = { TEXT_VECTORS_1: unavailableIndex, IMAGE_VECTORS_1: unavailableIndex };
const NO_TEXT_VECTORS = { TEXT_VECTORS_1: unavailableIndex };
const NO_IMAGE_MODEL = { IMAGE_EMBEDDINGS_URL: "http://127.0.0.1:1/" };
const NO_IMAGE_EMBEDDINGS = { IMAGE_EMBEDDINGS_URL: "" };

function search(settings: Partial<Env>, json: object): Promise<Response> {
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(json) };
  return fetchDeployed(settings, key, "/index/trip/search", init);
}

async function searchBy(settings: Partial<Env>, file: string, query = ""): Promise<Response> {
  const body = new FormData();
  const type = file.endsWith(".mp4") ? "video" : "image";
  body.append(`${type}_file`, await fixture(file));
  if (query !== "") body.append("query", query);
  return fetchDeployed(settings, key, `/index/trip/search_${type}`, { method: "POST", body });
}

async function readFirstHit(response: Response): Promise<Json> {
  expect(response.status).toBe(200);
  return (await response.json<Json>()).segments[0];
}

async function expectUnavailable(response: Response) {
  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({ detail: expect.stringMatching(/^The .+[.]$/) });
}

describe.each<[string, Partial<Env>]>([
  ["Vectorize is", NO_VECTORS],
  ["the image embedding model is", NO_IMAGE_MODEL],
  ["both are", { ...NO_VECTORS, ...NO_IMAGE_MODEL }],
])("while %s unavailable", (_, settings) => {
  it("a text search falls back to full text", async () => {
    const first = await readFirstHit(await search(settings, { query: "two goats" }));
    expect(first).toMatchObject({ asset_id: video.asset_id, signals: { term_coverage: 1 } });
    expect(first.signals).not.toHaveProperty("image_similarity");
  });

  it("a sequence falls back to full text", async () => {
    const json = { sequence: ["welcome to the lighthouse", "two goats"] };
    const first = await readFirstHit(await search(settings, json));
    expect(first).toMatchObject({ asset_id: video.asset_id, start_seconds: 0, end_seconds: 6 });
  });

  it("a search by image finds the same image", async () => {
    const first = await readFirstHit(await searchBy(settings, "boats-crop.jpg"));
    expect(first.asset_id).toBe(boats.asset_id);
    expect(first.score).toBeGreaterThan(0.8);
  });

  it("a search by video finds the source of the clip", async () => {
    const first = await readFirstHit(await searchBy(settings, "clip.mp4"));
    expect(first.asset_id).toBe(video.asset_id);
    expect(first.signals.copy_similarity).toBeGreaterThan(0.9);
  });

  it("a search by an unknown image returns 503", async () => {
    await expectUnavailable(await searchBy(settings, "clock.jpg"));
  });

  it("a search by an unknown image and a query falls back to full text", async () => {
    const first = await readFirstHit(await searchBy(settings, "clock.jpg", "goats"));
    expect(first).toMatchObject({ asset_id: video.asset_id, signals: { term_coverage: 1 } });
  });

  it("a search with `all` and `none` falls back to full text", async () => {
    const json = { query: "keeper", all: ["goats"], none: ["lantern"] };
    const first = await readFirstHit(await search(settings, json));
    expect(first.asset_id).toBe(video.asset_id);
    expect(first.score).toBeGreaterThan(0.3);
  });
});

describe("while Vectorize returns no vectors by id", () => {
  const { TEXT_VECTORS_1: text, IMAGE_VECTORS_1: image } = env as unknown as Vectors;
  const settings = { TEXT_VECTORS_1: queriesOnly(text), IMAGE_VECTORS_1: queriesOnly(image) };

  it("a search with `none` counts what its own search found", async () => {
    const json = { query: "keeper", none: ["boat"] };
    const first = await readFirstHit(await search(settings, json));
    expect(first.asset_id).toBe(video.asset_id);
    expect(first.signals).toHaveProperty("text_margin");
    const { status } = await search(settings, {
      query: "keeper",
      all: [{ similar_to: boats.asset_id }],
    });
    expect(status).toBe(503);
  });
});

type Vectors = Record<"TEXT_VECTORS_1" | "IMAGE_VECTORS_1", VectorizeIndex>;

/** Makes a Vectorize binding that finds vectors, and doesn't read them. */
function queriesOnly(index: VectorizeIndex): VectorizeIndex {
  const query: VectorizeIndex["query"] = (...parameters) => index.query(...parameters);
  return Object.assign(Object.create(unavailableIndex), { query }) as VectorizeIndex;
}

describe("while Vectorize is unavailable", () => {
  it("a search with `similar_to` returns 503, also in a sequence", async () => {
    await expectUnavailable(await search(NO_VECTORS, { similar_to: boats.asset_id }));
    const json = { sequence: [{ similar_to: boats.asset_id }, "goats"] };
    await expectUnavailable(await search(NO_VECTORS, json));
  });

  it("an answer falls back to full text", async () => {
    const path = "/index/trip/answer?query=Who+lives+with+the+goats%3F&language=en-x-out";
    const response = await fetchDeployed(NO_VECTORS, key, path);
    expect(await response.json()).toMatchObject({ grounded: true });
  });
});

describe("without image embeddings", () => {
  it("a search by image finds the same image if captioning fails", async () => {
    await localAi().inject(MODELS.describe.id, "3040");
    const first = await readFirstHit(await searchBy(NO_IMAGE_EMBEDDINGS, "boats-crop.jpg"));
    expect(first.asset_id).toBe(boats.asset_id);
  });

  it("a search by an unknown image of which the model says nothing finds nothing", async () => {
    const text = JSON.stringify({ caption: "", text: "", labels: [], objects: [] });
    await localAi().script(MODELS.describe.id, [{ text }]);
    const response = await searchBy(NO_IMAGE_EMBEDDINGS, "clock.jpg");
    expect(response.status).toBe(200);
    expect((await response.json<Json>()).segments).toEqual([]);
  });

  it("a search by an unknown image returns 503 if captioning or Vectorize fails", async () => {
    await localAi().inject(MODELS.describe.id, "3040");
    await expectUnavailable(await searchBy(NO_IMAGE_EMBEDDINGS, "clock.jpg"));
    await expectUnavailable(
      await searchBy({ ...NO_IMAGE_EMBEDDINGS, ...NO_TEXT_VECTORS }, "clock.jpg"),
    );
  });
});

describe("an index's database", () => {
  /** Fails the first calls of each method as the platform does, and counts all of them. */
  function failingDatabase(failures: number, properties: object) {
    let calls = 0;
    const failOr = async <T>(call: () => Promise<T>): Promise<T> => {
      if (calls++ < failures) throw Object.assign(new Error("Object is out of reach"), properties);
      return call();
    };
    const namespace = {
      getByName(name: string) {
        const object = env.INDEX_DATABASE.getByName(name);
        return {
          batch: (...parameters: Parameters<typeof object.batch>) =>
            failOr(async () => object.batch(...parameters)),
          querySegments: (...parameters: Parameters<typeof object.querySegments>) =>
            failOr(async () => object.querySegments(...parameters)),
        };
      },
    };
    const settings = { INDEX_DATABASE: namespace as unknown as Env["INDEX_DATABASE"] };
    return { settings, count: () => calls };
  }

  it("that was restarted twice is called again", async () => {
    const { settings, count } = failingDatabase(2, { retryable: true });
    const first = await readFirstHit(await search(settings, { query: "two goats" }));
    expect(first.asset_id).toBe(video.asset_id);
    expect(count()).toBe(3);
  });

  it("that stays out of reach is a 503", async () => {
    const { settings, count } = failingDatabase(Infinity, { retryable: true });
    await expectUnavailable(await search(settings, { query: "two goats" }));
    expect(count()).toBe(4);
  });

  it("that stays out of reach is a 503 for a sequence", async () => {
    const { settings } = failingDatabase(Infinity, { retryable: true });
    await expectUnavailable(await search(settings, { sequence: ["lighthouse", "goats"] }));
  });

  it("that is overloaded is a 503 at once", async () => {
    const { settings, count } = failingDatabase(Infinity, { retryable: true, overloaded: true });
    await expectUnavailable(await search(settings, { query: "two goats" }));
    expect(count()).toBe(1);
  });

  it("that is full fails an ingest with `account_full`, and searches go on", async () => {
    const asset = (await getAsset(env.DB, boats.asset_id))!;
    const error = new Error("database or disk is full: SQLITE_FULL");
    const fullNamespace = { getByName: () => ({ batch: () => Promise.reject(error) }) };
    const settings = { ...env, INDEX_DATABASE: fullNamespace as unknown as Env["INDEX_DATABASE"] };
    await expect(segment(settings, asset)).rejects.toMatchObject({
      code: "account_full",
      message: expect.stringContaining("10 GB"),
    });
    expect((await search({}, { query: "two goats" })).status).toBe(200);
  });

  it("that is out of reach refuses a deletion, which the sweep completes", async () => {
    const { settings } = failingDatabase(Infinity, { overloaded: true });
    const path = `/index/trip/image/${boats.asset_id}`;
    await expectUnavailable(await fetchDeployed(settings, key, path, { method: "DELETE" }));
    const isFound = async () => {
      const response = await search({}, { query: "boats", modes: ["image"] });
      const { segments } = await response.json<Json>();
      return segments.some(({ asset_id }: Json) => asset_id === boats.asset_id);
    };
    expect(await isFound()).toBe(true);
    await sweep(env, Date.now() + 120_000);
    expect(await isFound()).toBe(false);
  });
});
