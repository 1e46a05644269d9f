import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, inject, it } from "vitest";
import worker from "../local/worker.ts";
import { app } from "../src/app.ts";
import { newId } from "../src/ids.ts";
import type { JobMessage } from "../src/queues/messages.ts";
import { insertJob } from "../src/store/jobs.ts";
import { arrived, bring, newIndex, picture, pictures, profile } from "./bringing.ts";
import { type Client, type Json, newClient } from "./client.ts";
import { askedOf, many, putScene } from "./scenes.ts";
import { deliver } from "./started.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

describe("a video of a platform", () => {
  it("comes with what the platform says of it, its captions in place of listening", async () => {
    await newIndex(client, "tube");
    await putScene("house", { items: [{ id: "h", file: "told.mp4", captions: "house.vtt" }] });
    const listing = await fetch(
      `${inject("platformsOrigin")}/api/v1/video-channels/house/videos?start=0&count=1`,
    );
    const { data }: Json = await listing.json();
    const metadata = { shelf: 3 };
    const job = await bring(client, "tube/videonet/url", { url: data[0].url, metadata });
    expect(job).toMatchObject({ kind: "import", state: "succeeded", progress: 1, error: null });
    const [item] = job.result.items;
    expect(item).toMatchObject({ outcome: "added", state: "ready", error: null, url: data[0].url });
    const video = await client.json("GET", `/index/tube/video/${item.video_id}`);
    expect(video).toMatchObject({
      title: "Video h",
      language: "en",
      metadata,
      source: {
        kind: "videonet",
        platform: "peertube",
        platform_id: item.platform_id,
        url: data[0].url,
        licence: "Attribution",
        published_at: "2026-05-04T10:20:30.000Z",
      },
      transcript: { language: "en", source: "platform", cues: 1 },
    });
    const { segments } = await client.json("POST", "/index/tube/search", {
      json: { query: "lighthouse keeper", modes: ["speech"] },
    });
    expect(segments[0]).toMatchObject({ video_id: item.video_id });
  });
});

describe("a profile", () => {
  it("comes page by page, with alt texts that are found", async () => {
    await newIndex(client, "album");
    const alt = "A quince on a windowsill";
    const items = pictures("one", "two", "three", "four");
    items[1]!.alt = alt;
    await putScene("ann", { items });
    const job = await bring(client, "album/photonet/profile", { ...profile("ann"), limit: 3 });
    const outcomes = job.result.items.map((item: Json) => item.outcome);
    expect(outcomes).toEqual(["added", "added", "added"]);
    const { segments } = await client.json("POST", "/index/album/search", {
      json: { query: "quince" },
    });
    expect(segments[0].caption).toMatch(/^A quince on a windowsill\. /);
    expect(segments[0].evidence[0]).toMatchObject({ kind: "caption" });
  });

  it("brings nothing twice: neither what came from it nor bytes that are here", async () => {
    await newIndex(client, "twice");
    await putScene("bob", { items: [picture("b1"), picture("b2", { file: "clock.jpg" })] });
    await putScene("eve", { items: [picture("e1", { file: "clock.jpg" })] });
    await bring(client, "twice/photonet/profile", profile("bob"));
    const again = await bring(client, "twice/photonet/profile", profile("bob"));
    expect(again.result.items.map((item: Json) => item.outcome)).toEqual(["present", "present"]);
    const other = await bring(client, "twice/photonet/profile", profile("eve"));
    expect(other.result.items[0]).toMatchObject({ outcome: "present", state: "ready" });
    expect(other.result.items[0].image_id).toBe(again.result.items[1].image_id);
    expect((await client.json("GET", "/index/twice")).index.counts.images).toBe(2);
  });

  it("has broken items that don't stop the others", async () => {
    await newIndex(client, "broken");
    const items = [
      picture("fine"),
      picture("lost", { file: "no-such.jpg" }),
      picture("cut", { file: "cut.jpg" }),
      picture("none", { broken: true }),
    ];
    await putScene("cat", { items });
    const job = await bring(client, "broken/photonet/profile", profile("cat"));
    expect(job.state).toBe("succeeded");
    const byState = Object.groupBy(job.result.items as Json[], ({ state }) => String(state));
    expect(byState["ready"]).toHaveLength(1);
    const codes = byState["failed"]!.map(({ error }) => error.code);
    expect(new Set(codes)).toEqual(new Set(["download_refused", "unreadable_image"]));
  });

  it("that isn't there fails the job, and says so", async () => {
    await newIndex(client, "nobody");
    const job = await bring(client, "nobody/photonet/profile", profile("nobody-at-all"));
    expect(job).toMatchObject({ state: "failed", error: { code: "not_found" } });
    const { sources } = await client.json("GET", "/index/nobody/sources");
    expect(sources[0]).toMatchObject({ state: "failed", items: 0, last_looked_at: null });
    expect(sources[0].error.message).toMatch(/profile/);
  });

  it("is waited for where the platform asks to", async () => {
    await newIndex(client, "patient");
    const faults = [{ path: "/statuses", status: 429, headers: { "retry-after": "1" }, times: 1 }];
    await putScene("slow", { items: [picture("s")], faults });
    const job = await bring(client, "patient/photonet/profile", profile("slow"));
    expect(job.result.items[0]).toMatchObject({ outcome: "added", state: "ready" });
  });
});

describe("an import that is cut off", () => {
  /** On record, and in no queue. */
  async function lostImport(index: string, scene: string): Promise<JobMessage> {
    const indexId = await newIndex(client, index);
    const { account_id: accountId } = await client.json("POST", "/init");
    const jobId = newId("job");
    const sourceId = newId("src");
    const wanted = JSON.stringify({ kind: "profile", ...profile(scene) });
    await env.DB.prepare(
      `INSERT INTO sources (source_id, account_id, index_id, platform, wanted, item_limit, follow, job_id, created_at)
       VALUES (?, ?, ?, 'mastodon', ?, 500, 0, ?, 0)`,
    )
      .bind(sourceId, accountId, indexId, wanted, jobId)
      .run();
    const job: JobMessage = { kind: "import", jobId, accountId, indexId, sourceId };
    await insertJob(env.DB, job, Date.now());
    return job;
  }

  it("goes on where it was, whatever comes twice", async () => {
    const items = many(45, { file: "no-such.jpg" });
    const faults = [{ path: "max_id", status: 503, times: 1 }];
    await putScene("long", { items, faults });
    const job = await lostImport("cut", "long");
    await deliver("sightline-jobs", job); // the first page; it asks for the next by itself
    await deliver("sightline-jobs", job);
    const scheduledTime = Date.now() + 600_000; // what was dropped on the way is overdue by then
    await worker.scheduled({ scheduledTime, cron: "* * * * *" } as ScheduledController, env);
    const record = await client.finished(job.jobId);
    expect(record).toMatchObject({ state: "succeeded", progress: 1 });
    const { items: brought } = record.result;
    expect(brought).toHaveLength(45);
    expect(new Set(brought.map((item: Json) => item.platform_id)).size).toBe(45);
    await deliver("sightline-jobs", job);
    expect((await client.json("GET", `/jobs/${job.jobId}`)).result.items).toHaveLength(45);
  }, 60_000);

  it("adds nothing more when it is cancelled", async () => {
    await putScene("halt", { items: pictures("c1", "c2") });
    const job = await lostImport("halt", "halt");
    expect(await client.json("DELETE", `/jobs/${job.jobId}`)).toMatchObject({ state: "cancelled" });
    await deliver("sightline-jobs", job);
    expect((await client.json("GET", "/index/halt")).total).toBe(0);
  });
});

describe("what is asked for", () => {
  const ask = (path: string, json?: object) =>
    client.issues("POST", `/index/asks/${path}`, json && { json });

  it("is checked", async () => {
    await newIndex(client, "asks");
    expect(await ask("videonet/url")).toEqual([[["body", "url"], "missing"]]);
    expect(
      await ask("videonet/playlist", { url: "https://a.example/c/b", playlist_id: "x" }),
    ).toEqual([[["body", "playlist_id"], "value_error"]]);
    expect(await ask("videonet/search", { query: "x", limit: 101 })).toEqual([
      [["body", "limit"], "less_than_equal"],
    ]);
    expect(await ask("photonet/profile", { username: "x", platform: "peertube" })).toEqual([
      [["body", "platform"], "literal_error"],
    ]);
    expect(await ask("photonet/profile", { username: "no/body" })).toEqual([
      [["body", "username"], "value_error"],
    ]);
    expect(await ask("photonet/profile", { username: "a@b.example", follow: "yes" })).toEqual([
      [["body", "follow"], "bool_type"],
    ]);
  });

  it("is refused at once where the operator has set no credentials", async () => {
    const request = new Request("https://sightline.test/index/asks/videonet/search", {
      method: "POST",
      headers: { "x-api-key": client.key, "content-type": "application/json" },
      body: JSON.stringify({ query: "boats", platform: "youtube" }),
    });
    const unset = { ...env, YOUTUBE_API_KEY: "" };
    const response = await app.fetch(request, unset, createExecutionContext());
    expect(response.status).toBe(503);
    expect(await response.text()).toContain("YOUTUBE_API_KEY");
  });

  it("may be in the query", async () => {
    await putScene("query", { items: pictures("q1", "q2") });
    const url = encodeURIComponent(profile("query").url);
    const metadata = encodeURIComponent('{"from":"query"}');
    const path = `/index/asks/photonet/profile?url=${url}&limit=1&metadata=${metadata}`;
    const { job_id } = await client.json("POST", path);
    const job = await arrived(client, job_id);
    expect(job.result.items).toHaveLength(1);
    const { image_id } = job.result.items[0];
    const image = await client.json("GET", `/index/asks/image/${image_id}`);
    expect(image.metadata).toEqual({ from: "query" });
    const bad = await client.issues("POST", "/index/asks/photonet/profile?url=x&metadata=[]");
    expect(bad).toEqual([[["query", "metadata"], "dict_type"]]);
  });

  it("while it is being looked at, is the same job", async () => {
    const faults = [{ path: "/statuses", status: 503, times: 1 }];
    await putScene("same", { items: [picture("z")], faults });
    const ask = () =>
      client.json("POST", "/index/asks/photonet/profile", { json: profile("same") });
    const [one, two] = [await ask(), await ask()];
    expect(two).toEqual(one);
    await client.finished(one.job_id);
    expect((await askedOf("same")).length).toBeGreaterThan(1);
    expect((await ask()).job_id).not.toBe(one.job_id);
  });
});
