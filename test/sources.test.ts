import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { lookAtSources } from "../src/care/imports.ts";
import { accountId, type IndexId } from "../src/ids.ts";
import { arrived, bring, newIndex, picture, pictures, profile } from "./bringing.ts";
import { type Client, type Json, newClient } from "./client.ts";
import { putScene } from "./scenes.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

describe("a source that is followed", () => {
  /** Looks again, as a traversal does. */
  async function lookAgain(indexId: IndexId, name: string): Promise<Json> {
    const { account_id: accountId } = await client.json("POST", "/init");
    expect(await lookAtSources(env, { accountId, indexId })).toBe(1);
    const { sources } = await client.json("GET", `/index/${name}/sources`);
    return arrived(client, sources[0].job_id);
  }

  it("brings only what is new, and asks only for changes", async () => {
    const indexId = await newIndex(client, "news");
    const [first, second] = pictures("n1", "n2");
    await putScene("daily", { items: [first!], etag: '"1"' });
    await bring(client, "news/photonet/profile", { ...profile("daily"), follow: true });
    const quiet = await lookAgain(indexId, "news");
    expect(quiet.result).toMatchObject({ unchanged: true, items: [] });
    await putScene("daily", { items: [second!, first!], etag: '"2"' });
    const news = await lookAgain(indexId, "news");
    expect(news.result.items.map((item: Json) => item.outcome)).toEqual(["added"]);
    expect((await client.json("GET", "/index/news")).index.counts.images).toBe(2);
    expect(await client.json("GET", "/index/news/sources")).toMatchObject({
      total: 1,
      sources: [{ follow: true, items: 2, removed: 0, platform: "mastodon", kind: "profile" }],
    });
  });

  it("reports originals that are gone, and keeps what came of them", async () => {
    const indexId = await newIndex(client, "gone");
    const [first, second] = pictures("g1", "g2");
    await putScene("gone", { items: [first!, second!] });
    const job = await bring(client, "gone/photonet/profile", { ...profile("gone"), follow: true });
    await putScene("gone", { items: [first!, { ...second!, removed: true }] });
    const kept = await lookAgain(indexId, "gone");
    expect(kept.result.items).toEqual([]); // still listed
    await putScene("gone", { items: [first!] });
    const look = await lookAgain(indexId, "gone");
    const lost = job.result.items.find((item: Json) => item.title === look.result.items[0].title);
    expect(look.result.items).toMatchObject([
      { outcome: "removed", image_id: lost.image_id, state: "ready" },
    ]);
    const { sources } = await client.json("GET", "/index/gone/sources");
    expect(sources[0]).toMatchObject({ items: 2, removed: 1 });
    expect((await lookAgain(indexId, "gone")).result.items).toEqual([]);
  });

  it("doesn't bring back what its owner deleted, unless it is asked for", async () => {
    const indexId = await newIndex(client, "back");
    await putScene("back", { items: [picture("x")] });
    const asked = { ...profile("back"), follow: true };
    const job = await bring(client, "back/photonet/profile", asked);
    const { image_id } = job.result.items[0];
    const { job_id } = await client.json("DELETE", `/index/back/image/${image_id}`);
    await client.finished(job_id);
    expect((await lookAgain(indexId, "back")).result.items).toEqual([]);
    const again = await bring(client, "back/photonet/profile", asked);
    expect(again.result.items).toMatchObject([{ outcome: "added", state: "ready" }]);
    expect(again.result.items[0].image_id).not.toBe(image_id);
  });

  it("is followed no more when it is deleted; what came stays", async () => {
    const indexId = await newIndex(client, "stop");
    await putScene("stop", { items: [picture("y")] });
    await bring(client, "stop/photonet/profile", { ...profile("stop"), follow: true });
    const { sources } = await client.json("GET", "/index/stop/sources");
    const path = `/index/stop/sources/${sources[0].source_id}`;
    expect(await client.json("DELETE", path)).toMatchObject({ deleted: true });
    expect((await client.send("DELETE", path)).status).toBe(404);
    expect(await lookAtSources(env, { accountId: await accountId("nobody"), indexId })).toBe(0);
    expect((await client.json("GET", "/index/stop")).index.counts.images).toBe(1);
  });
});
