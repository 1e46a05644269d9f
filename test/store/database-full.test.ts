import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { newId } from "../../src/ids.ts";
import { newAsset } from "../../src/lifecycle/create-asset.ts";
import { sweep } from "../../src/lifecycle/sweep.ts";
import { insertAsset } from "../../src/store/d1/assets.ts";
import {
  type Call,
  type Client,
  fixture,
  fixtureUrl,
  type Json,
  newClient,
} from "../support/client.ts";
import { profileOf } from "../support/import-helpers.ts";
import { assetRefOf, run } from "../support/store-queries.ts";
import { encode } from "../support/tus-client.ts";

const MINUTE_MS = 60_000;
const FULL_HOUR = Date.UTC(2026, 10, 23, 12);

let client: Client;
let image: Json;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "a" } });
  const form = { image_file: await fixture("boats.jpg") };
  image = await client.json("POST", "/index/a/image", { form });
  await client.waitForAsset("a", image);
});

/** Runs a sweep with a limit of which the database takes up `share`. */
async function sweepAt(share: number, now = FULL_HOUR + MINUTE_MS) {
  const used = (await run("SELECT 1")).meta.size_after;
  await sweep({ ...env, D1_BYTES: String(Math.floor(used / share)) }, now);
}

afterEach(() => sweepAt(0.1));

const INGESTS: [string, string, () => Promise<Call>][] = [
  [
    "an upload",
    "/index/a/image",
    async () => ({ form: { image_file: await fixture("clock.jpg") } }),
  ],
  ["a URL", `/index/a/image?image_url=${fixtureUrl("words.jpg")}`, async () => ({})],
  ["an import", "/index/a/photonet/profile", async () => ({ json: profileOf("full") })],
  [
    "a resumable upload",
    "/index/a/uploads",
    async () => ({
      headers: {
        "tus-resumable": "1.0.0",
        "upload-length": "10",
        "upload-metadata": `filename ${encode("a.mp4")}`,
      },
    }),
  ],
];

describe("a database of which 90 % are used", () => {
  it.each(INGESTS)("refuses %s with 507, and accepts it below", async (_, path, call) => {
    await sweepAt(0.91);
    const refused = await client.send("POST", path, await call());
    expect(refused.status).toBe(507);
    expect((await refused.json<Json>()).detail).toMatch(/^This deployment .+ operator/);
    await sweepAt(0.89);
    expect((await client.send("POST", path, await call())).status).toBeLessThan(300);
  });

  it("refuses an asset that was received before it filled up", async () => {
    const { accountId, indexId } = await assetRefOf(image);
    const identity = { accountId, indexId, assetId: newId("img"), shard: 0, vectorPair: 1 };
    const description = { title: "late", source: { kind: "upload" }, metadata: {} } as const;
    const asset = newAsset(
      { ...identity, assetType: "image" },
      { name: "a", settings: {} },
      undefined,
      description,
      Date.now(),
    );
    await sweepAt(0.91);
    await expect(insertAsset(env.DB, asset)).rejects.toMatchObject({ code: "deployment_full" });
    await sweepAt(0.89);
    expect(await insertAsset(env.DB, asset)).toBe(true);
  });

  it("is searched, and deleted from", async () => {
    await sweepAt(0.91);
    await client.json("POST", "/index/a/search", { json: { query: "boats" } });
    const { job_id } = await client.json("DELETE", `/index/a/image/${image.asset_id}`);
    expect(await client.waitForJob(job_id)).toMatchObject({ state: "succeeded" });
  });
});

describe("the log of the sweep", () => {
  const eventsOf = async (share: number, now?: number): Promise<string[]> => {
    const spies = (["info", "warn", "error"] as const).map((level) =>
      vi.spyOn(console, level).mockImplementation(() => {}),
    );
    try {
      await sweepAt(share, now);
      return spies.flatMap(({ mock }, i) =>
        mock.calls.flatMap(([line]) => {
          const { event } = JSON.parse(line as string);
          return /database/.test(event) ? [`${["info", "warn", "error"][i]} ${event}`] : [];
        }),
      );
    } finally {
      for (const spy of spies) spy.mockRestore();
    }
  };

  it("warns of a filling database once an hour", async () => {
    expect(await eventsOf(0.79, FULL_HOUR)).toEqual([]);
    expect(await eventsOf(0.81, FULL_HOUR)).toEqual(["warn lifecycle.database_filling"]);
    expect(await eventsOf(0.81, FULL_HOUR + MINUTE_MS)).toEqual([]);
  });

  it("says once when ingests are refused and accepted, and each hour that they are", async () => {
    expect(await eventsOf(0.91)).toEqual(["error lifecycle.database_full"]);
    expect(await eventsOf(0.91)).toEqual([]);
    expect(await eventsOf(0.91, FULL_HOUR)).toEqual(["error lifecycle.database_full"]);
    expect(await eventsOf(0.85)).toEqual(["warn lifecycle.database_filling"]);
    expect(await eventsOf(0.85)).toEqual([]);
  });
});
