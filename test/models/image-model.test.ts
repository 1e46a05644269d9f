import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { MODELS } from "../../src/config.ts";
import { embedInImageSpace } from "../../src/models/embed.ts";
import { errorOf, localAi } from "../local/bindings.ts";
import { type Client, fixture, newClient } from "../support/client.ts";
import { fetchDeployed } from "../support/deployed.ts";
import { deliver, setState, startAsset } from "../support/ingest-helpers.ts";

const model = MODELS.embedImage.id;
const OTHER = "@cf/other/embedding";
/** Settings of a deployment whose image model is of Workers AI, with an index for its vectors. */
const SETTINGS = {
  IMAGE_EMBEDDINGS_URL: "",
  IMAGE_EMBEDDINGS_MODEL: model,
  IMAGE_VECTORS_1: Reflect.get(env, "TEXT_VECTORS_2") as VectorizeIndex, // 1,024 dimensions
};
const withoutServer = { ...env, ...SETTINGS };
const dot = (a: number[], b: number[]) => a.reduce((sum, value, i) => sum + value * b[i]!, 0);

const boats = async () => new Uint8Array(await (await fixture("boats.jpg")).arrayBuffer());

describe("an image model of Workers AI", () => {
  it("embeds images and texts in one space", async () => {
    const images = [{ image: await boats() }, { image: await boats() }];
    const embedded = await embedInImageSpace(withoutServer, images);
    expect(embedded.model).toBe(model);
    const [first, second] = embedded.vectors;
    expect(dot(first!, second!)).toBeCloseTo(1, 5);
    const texts = [{ text: "boats on a river" }, { text: "a person at a desk" }];
    const { vectors } = await embedInImageSpace(withoutServer, texts);
    expect(vectors.map(({ length }) => length)).toEqual([1024, 1024]);
    expect(dot(vectors[0]!, first!)).toBeGreaterThan(dot(vectors[1]!, first!));
  });

  it("that doesn't exist fails with its name", async () => {
    const settings = { ...withoutServer, IMAGE_EMBEDDINGS_MODEL: OTHER };
    const error = await errorOf(embedInImageSpace(settings, [{ image: await boats() }]));
    expect(error).toMatchObject({ code: "model_not_found" });
    expect(error.message).toContain(OTHER);
  });

  it("that answers too few vectors fails", async () => {
    await localAi().inject(model, "malformed", 1);
    const failure = errorOf(embedInImageSpace(withoutServer, [{ image: await boats() }]));
    expect(await failure).toMatchObject({ code: "upstream_failed" });
  });
});

describe("a deployment with an image model of Workers AI and no server", () => {
  let client: Client;
  beforeAll(async () => {
    client = await newClient();
  });

  it("finds an image by its look, by a text and by another image", async () => {
    const { asset, indexId, object } = await startAsset(client, "looks", "boats.jpg");
    await client.waitForAsset("looks", asset);
    const parts = [
      { status: "dispatched", attempts: 0, dispatches: 1, dueAt: Date.now() + 60_000 },
    ];
    await setState(object, { step: "embed", parts });
    const message = { indexId, assetId: asset.asset_id, step: "embed", part: 0 };
    await deliver("sightline-ingest", message, 1, SETTINGS);
    await client.waitForAsset("looks", asset);

    const searchBy = async (init: { body: BodyInit; headers?: Record<string, string> }) => {
      const path = typeof init.body === "string" ? "search" : "search_image";
      const request = { method: "POST", ...init };
      const response = await fetchDeployed(SETTINGS, client.key, `/index/looks/${path}`, request);
      const { segments } = await response.json<{ segments: { signals: object }[] }>();
      return segments.map(({ signals }) => "image_similarity" in signals);
    };
    const headers = { "content-type": "application/json" };
    expect(await searchBy({ body: JSON.stringify({ query: "boats" }), headers })).toEqual([true]);
    const form = new FormData();
    form.append("image_file", await fixture("boats.jpg"));
    expect(await searchBy({ body: form })).toEqual([true]);
  });
});
