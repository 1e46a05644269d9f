import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { accountId, type IndexId } from "../../src/ids.ts";
import { syncFollowedSources } from "../../src/lifecycle/sync-sources.ts";
import { type Client, type Json, newClient } from "../support/client.ts";
import { fetchDeployed, withoutDelivery } from "../support/deployed.ts";
import {
  waitForImport,
  runImport,
  createIndex,
  sceneImage,
  sceneImages,
  profileOf,
} from "../support/import-helpers.ts";
import { stubPlatform } from "../support/platform-stubs.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

describe("a followed source", () => {
  /** Syncs the followed source, as a traversal does, and waits for its assets. */
  async function syncAgain(indexId: IndexId, name: string): Promise<Json> {
    const { account_id: accountId } = await client.json("POST", "/init");
    expect(await syncFollowedSources(env, { accountId, indexId })).toBe(1);
    const { sources } = await client.json("GET", `/index/${name}/sources`);
    return waitForImport(client, sources[0].job_id);
  }

  it("adds only new items", async () => {
    const indexId = await createIndex(client, "news");
    const [first, second] = sceneImages("n1", "n2");
    await stubPlatform("daily", { items: [first!] });
    await runImport(client, "news/photonet/profile", { ...profileOf("daily"), follow: true });
    const unchanged = await syncAgain(indexId, "news");
    expect(unchanged.result).toMatchObject({ items: [] });
    await stubPlatform("daily", { items: [second!, first!] });
    const changed = await syncAgain(indexId, "news");
    expect(changed.result.items.map((item: Json) => item.outcome)).toEqual(["added"]);
    expect((await client.json("GET", "/index/news")).index.counts.images).toBe(2);
    expect(await client.json("GET", "/index/news/sources")).toMatchObject({
      total: 1,
      sources: [{ follow: true, items: 2, platform: "mastodon", kind: "profile" }],
    });
  });

  it("adds an item that was still processed at the sync before", async () => {
    const indexId = await createIndex(client, "later");
    const [first, second] = sceneImages("l1", "l2");
    const media_attachments = [{ id: "5", type: "image", url: null }];
    const processed = { ...second!, overrides: { media_attachments } };
    await stubPlatform("later", { items: [first!, processed] });
    const request = { ...profileOf("later"), follow: true };
    const begun = await runImport(client, "later/photonet/profile", request);
    expect(begun.result.items.map(({ outcome }: Json) => outcome)).toEqual([
      "added",
      "unavailable",
    ]);
    const waiting = await syncAgain(indexId, "later");
    expect(waiting.result.items.map(({ outcome }: Json) => outcome)).toEqual(["unavailable"]);
    await stubPlatform("later", { items: [first!, second!] });
    const published = await syncAgain(indexId, "later");
    expect(published.result.items).toMatchObject([{ outcome: "added", state: "ready" }]);
    expect((await syncAgain(indexId, "later")).result).toMatchObject({ items: [] });
  });

  it("can be imported again and followed by its `request`, and stays one source", async () => {
    await createIndex(client, "again");
    const [first, second] = sceneImages("r1", "r2");
    await stubPlatform("repeated", { items: [first!] });
    await runImport(client, "again/photonet/profile", profileOf("repeated"));
    const readSources = () => client.json("GET", "/index/again/sources");
    const [before] = (await readSources()).sources;
    expect(before).toMatchObject({ follow: false, items: 1 });
    await stubPlatform("repeated", { items: [second!, first!] });
    const { request, platform } = before;
    await runImport(client, "again/photonet/profile", { ...request, platform, follow: true });
    expect(await readSources()).toMatchObject({
      total: 1,
      sources: [{ source_id: before.source_id, request, follow: true, items: 2 }],
    });
  });

  it.each([
    ["has deleted", "back"],
    ["is deleting", "leaving"],
  ])("restores an asset that the user %s only on request", async (tense, name) => {
    const indexId = await createIndex(client, name);
    await stubPlatform(name, { items: [sceneImage(name)] });
    const request = { ...profileOf(name), follow: true };
    const job = await runImport(client, `${name}/photonet/profile`, request);
    const { image_id } = job.result.items[0];
    const path = `/index/${name}/image/${image_id}`;
    if (tense === "has deleted") {
      await client.waitForJob((await client.json("DELETE", path)).job_id);
    } else {
      const deletion = { method: "DELETE" };
      expect((await fetchDeployed(withoutDelivery, client.key, path, deletion)).status).toBe(200);
    }
    expect((await syncAgain(indexId, name)).result.items).toEqual([]);
    const repeated = await runImport(client, `${name}/photonet/profile`, request);
    expect(repeated.result.items).toMatchObject([{ outcome: "added", state: "ready" }]);
    expect(repeated.result.items[0].image_id).not.toBe(image_id);
  });

  it("of a platform that is no longer supported stays listed, and its sync says so", async () => {
    const indexId = await createIndex(client, "former");
    await stubPlatform("former", { items: [sceneImage("f")] });
    await runImport(client, "former/photonet/profile", { ...profileOf("former"), follow: true });
    await env.DB.prepare("UPDATE sources SET platform = 'flickr' WHERE index_id = ?")
      .bind(indexId)
      .run();
    const { account_id: accountId } = await client.json("POST", "/init");
    expect(await syncFollowedSources(env, { accountId, indexId })).toBe(1);
    const { sources } = await client.json("GET", "/index/former/sources");
    expect(sources).toMatchObject([{ platform: "flickr", items: 1, follow: true }]);
    expect(await client.waitForJob(sources[0].job_id)).toMatchObject({
      error: { code: "unsupported_platform", message: expect.stringContaining("flickr") },
    });
    const { job_id: traversal } = await client.json("POST", "/index/former/traverse");
    expect(await client.waitForJob(traversal)).toMatchObject({ state: "succeeded" });
  });

  it("isn't synced after its deletion, and its assets stay", async () => {
    const indexId = await createIndex(client, "stop");
    await stubPlatform("stop", { items: [sceneImage("y")] });
    await runImport(client, "stop/photonet/profile", { ...profileOf("stop"), follow: true });
    const { sources } = await client.json("GET", "/index/stop/sources");
    const path = `/index/stop/sources/${sources[0].source_id}`;
    expect(await client.json("DELETE", path)).toMatchObject({ deleted: true });
    expect((await client.send("DELETE", path)).status).toBe(404);
    expect(await syncFollowedSources(env, { accountId: await accountId("nobody"), indexId })).toBe(
      0,
    );
    expect((await client.json("GET", "/index/stop")).index.counts.images).toBe(1);
  });
});
