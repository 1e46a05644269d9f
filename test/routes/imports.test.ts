import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, inject, it } from "vitest";
import worker from "../../local/worker.ts";
import { newId } from "../../src/ids.ts";
import type { JobMessage } from "../../src/messages.ts";
import { insertJob } from "../../src/store/d1/jobs.ts";
import { type Client, type Json, newClient } from "../support/client.ts";
import { fetchDeployed } from "../support/deployed.ts";
import {
  waitForImport,
  runImport,
  createIndex,
  sceneImage,
  sceneImages,
  profileOf,
} from "../support/import-helpers.ts";
import { deliver } from "../support/ingest-helpers.ts";
import { requestsTo, sceneItems, stubPlatform } from "../support/platform-stubs.ts";
import { WATCHDOG_MS } from "../support/watchdog.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

describe("an imported video", () => {
  it("has the platform's metadata, and its captions as the transcript", async () => {
    await createIndex(client, "tube");
    await stubPlatform("house", {
      items: [{ id: "h", file: "speech.mp4", captions: "house.vtt" }],
    });
    const listing = await fetch(
      `${inject("platformsOrigin")}/api/v1/video-channels/house/videos?start=0&count=1`,
    );
    const { data }: Json = await listing.json();
    const metadata = { shelf: 3 };
    const job = await runImport(client, "tube/videonet/url", { url: data[0].url, metadata });
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

describe("an imported profile", () => {
  it("is listed page by page, and its alt texts are searchable", async () => {
    await createIndex(client, "album");
    const alt = "A quince on a windowsill";
    const items = sceneImages("one", "two", "three", "four");
    items[1]!.altText = alt;
    await stubPlatform("ann", { items });
    const job = await runImport(client, "album/photonet/profile", {
      ...profileOf("ann"),
      limit: 3,
    });
    const outcomes = job.result.items.map((item: Json) => item.outcome);
    expect(outcomes).toEqual(["added", "added", "added"]);
    const { segments } = await client.json("POST", "/index/album/search", {
      json: { query: "quince" },
    });
    expect(segments[0].caption).toMatch(/^A quince on a windowsill\. /);
    expect(segments[0].evidence[0]).toMatchObject({ kind: "caption" });
  });

  it("adds neither an imported item nor stored bytes twice", async () => {
    await createIndex(client, "twice");
    await stubPlatform("bob", {
      items: [sceneImage("b1"), sceneImage("b2", { file: "clock.jpg" })],
    });
    await stubPlatform("eve", { items: [sceneImage("e1", { file: "clock.jpg" })] });
    await runImport(client, "twice/photonet/profile", profileOf("bob"));
    const second = await runImport(client, "twice/photonet/profile", profileOf("bob"));
    expect(second.result.items.map((item: Json) => item.outcome)).toEqual(["present", "present"]);
    const other = await runImport(client, "twice/photonet/profile", profileOf("eve"));
    expect(other.result.items[0]).toMatchObject({ outcome: "present", state: "ready" });
    expect(other.result.items[0].image_id).toBe(second.result.items[1].image_id);
    // The record of the duplicate is deleted after its item is linked to the other asset.
    const countImages = async () => (await client.json("GET", "/index/twice")).index.counts.images;
    await expect.poll(countImages, { timeout: WATCHDOG_MS }).toBe(2);
  });

  it("imports its other items if some are malformed", async () => {
    await createIndex(client, "broken");
    const items = [
      sceneImage("fine"),
      sceneImage("lost", { file: "no-such.jpg" }),
      sceneImage("cut", { file: "truncated.jpg" }),
      sceneImage("none", { malformed: true }),
    ];
    await stubPlatform("cat", { items });
    const job = await runImport(client, "broken/photonet/profile", profileOf("cat"));
    expect(job.state).toBe("succeeded");
    const message = expect.stringMatching(/^id: .*string/);
    expect(job.result.broken_entries).toEqual([{ page: 1, entry: 4, message }]);
    const byState = Object.groupBy(job.result.items as Json[], ({ state }) => String(state));
    expect(byState["ready"]).toHaveLength(1);
    const codes = byState["failed"]!.map(({ error }) => error.code);
    expect(new Set(codes)).toEqual(new Set(["download_refused", "unreadable_image"]));
  });

  it("that doesn't exist fails the job with not_found", async () => {
    await createIndex(client, "nobody");
    const job = await runImport(client, "nobody/photonet/profile", profileOf("nobody-at-all"));
    expect(job).toMatchObject({ state: "failed", error: { code: "not_found" } });
    const { sources } = await client.json("GET", "/index/nobody/sources");
    expect(sources[0]).toMatchObject({ state: "failed", items: 0, last_synced_at: null });
    expect(sources[0].error.message).toMatch(/profile/);
  });

  it("is retried after the platform's Retry-After", async () => {
    await createIndex(client, "patient");
    const faults = [{ path: "/statuses", status: 429, headers: { "retry-after": "1" }, times: 1 }];
    await stubPlatform("slow", { items: [sceneImage("s")], faults });
    const job = await runImport(client, "patient/photonet/profile", profileOf("slow"));
    expect(job.result.items[0]).toMatchObject({ outcome: "added", state: "ready" });
  });
});

describe("an interrupted import", () => {
  /** Inserts the job of an import without sending its message. */
  async function insertImportJob(index: string, scene: string): Promise<JobMessage> {
    const indexId = await createIndex(client, index);
    const { account_id: accountId } = await client.json("POST", "/init");
    const jobId = newId("job");
    const sourceId = newId("src");
    const request = JSON.stringify({ kind: "profile", ...profileOf(scene) });
    await env.DB.prepare(
      `INSERT INTO sources (source_id, account_id, index_id, platform, request, item_limit, follow,
         job_id, created_at)
       VALUES (?, ?, ?, 'mastodon', ?, 500, 0, ?, 0)`,
    )
      .bind(sourceId, accountId, indexId, request, jobId)
      .run();
    const job = { kind: "import", jobId, accountId, indexId, sourceId } as const;
    const message: JobMessage = { ...job, trigger: "request" };
    await insertJob(env.DB, message, Date.now());
    return message;
  }

  it("continues at its cursor, and adds nothing twice if messages are repeated", async () => {
    const items = sceneItems(45, { file: "no-such.jpg" });
    const faults = [{ path: "max_id", status: 503, times: 1 }];
    await stubPlatform("long", { items, faults });
    const job = await insertImportJob("cut", "long");
    await deliver("sightline-local-jobs", job); // the first page; sends a message for the next
    await deliver("sightline-local-jobs", job);
    const scheduledTime = Date.now() + 600_000; // lost messages are overdue by then
    await worker.scheduled({ scheduledTime, cron: "* * * * *" } as ScheduledController, env);
    const record = await client.waitForJob(job.jobId);
    expect(record).toMatchObject({ state: "succeeded", progress: 1 });
    const { items: imported } = record.result;
    expect(imported).toHaveLength(45);
    expect(new Set(imported.map((item: Json) => item.platform_id)).size).toBe(45);
    await deliver("sightline-local-jobs", job);
    expect((await client.json("GET", `/jobs/${job.jobId}`)).result.items).toHaveLength(45);
  });

  it("adds nothing after it is cancelled", async () => {
    await stubPlatform("halt", { items: sceneImages("c1", "c2") });
    const job = await insertImportJob("halt", "halt");
    expect(await client.json("DELETE", `/jobs/${job.jobId}`)).toMatchObject({ state: "cancelled" });
    await deliver("sightline-local-jobs", job);
    expect((await client.json("GET", "/index/halt")).total).toBe(0);
  });
});

describe("an import request", () => {
  const getIssues = (path: string, json?: object) =>
    client.issues("POST", `/index/asks/${path}`, json && { json });

  it("is validated", async () => {
    await createIndex(client, "asks");
    expect(await getIssues("videonet/url")).toEqual([[["body", "url"], "missing"]]);
    expect(
      await getIssues("videonet/playlist", { url: "https://a.example/c/b", playlist_id: "x" }),
    ).toEqual([[["body", "playlist_id"], "value_error"]]);
    expect(await getIssues("videonet/search", { query: "x", limit: 101 })).toEqual([
      [["body", "limit"], "less_than_equal"],
    ]);
    expect(await getIssues("photonet/profile", { username: "x", platform: "peertube" })).toEqual([
      [["body", "platform"], "literal_error"],
    ]);
    expect(await getIssues("photonet/profile", { username: "no/body" })).toEqual([
      [["body", "username"], "value_error"],
    ]);
    expect(await getIssues("photonet/profile", { username: "a@b.example", follow: "yes" })).toEqual(
      [[["body", "follow"], "bool_type"]],
    );
  });

  it("returns 501 if this deployment has no credential for the platform", async () => {
    const unset = { ...env, YOUTUBE_API_KEY: "" };
    const response = await fetchDeployed(unset, client.key, "/index/asks/videonet/search", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query: "boats", platform: "youtube" }),
    });
    expect(response.status).toBe(501);
    expect(response.headers.has("retry-after")).toBe(false);
    expect(await response.text()).toContain("This deployment lacks YOUTUBE_API_KEY");
  });

  it.each([
    ["videonet/url", { url: "http://10.0.0.1/film.mp4" }, "url"],
    ["videonet/url", { url: "https://a.example/film", platform: "youtube" }, "url"],
    ["videonet/playlist", { playlist_id: "PL1", platform: "web" }, "playlist_id"],
    ["videonet/playlist", { playlist_id: "no list", platform: "youtube" }, "playlist_id"],
    ["photonet/profile", { url: "http://127.0.0.1/@a", limit: 0 }, "url"],
  ])("to %s with %j is told at its field", async (path, json, field) => {
    const found = await client.issues("POST", `/index/asks/${path}`, { json });
    expect(found).toContainEqual([["body", field], expect.any(String)]);
    expect(found).toHaveLength("limit" in json ? 2 : 1);
  });

  it("to a host without an address fails within three attempts, with the host and the reason", async () => {
    await createIndex(client, "nowhere");
    const json = { url: "https://tube.invalid/c/boats" };
    const { job_id } = await client.json("POST", "/index/nowhere/videonet/playlist", { json });
    const body = env.DB.prepare("SELECT message FROM jobs WHERE job_id = ?").bind(job_id);
    const message = JSON.parse((await body.first<string>("message"))!);
    for (let attempt = 1; attempt <= 3; attempt++) {
      await env.DB.prepare("UPDATE jobs SET leased = 0 WHERE job_id = ?").bind(job_id).run();
      await deliver("sightline-local-jobs", message, attempt);
    }
    const job = await client.json("GET", `/jobs/${job_id}`);
    expect(job).toMatchObject({ state: "failed", error: { code: "upstream_unavailable" } });
    expect(job.error.message).toContain("tube.invalid");
  });

  it("may have its fields in the query", async () => {
    await stubPlatform("query", { items: sceneImages("q1", "q2") });
    const url = encodeURIComponent(profileOf("query").url);
    const metadata = encodeURIComponent('{"from":"query"}');
    const path = `/index/asks/photonet/profile?url=${url}&limit=1&metadata=${metadata}`;
    const { job_id } = await client.json("POST", path);
    const job = await waitForImport(client, job_id);
    expect(job.result.items).toHaveLength(1);
    const { image_id } = job.result.items[0];
    const image = await client.json("GET", `/index/asks/image/${image_id}`);
    expect(image.metadata).toEqual({ from: "query" });
    const bad = await client.issues("POST", "/index/asks/photonet/profile?url=x&metadata=[]");
    expect(bad).toEqual([
      [["query", "metadata"], "dict_type"],
      [["query", "url"], "value_error"],
    ]);
  });

  it("returns the unfinished job of the same source", async () => {
    const faults = [{ path: "/statuses", status: 503, times: 1 }];
    await stubPlatform("same", { items: [sceneImage("z")], faults });
    const requestImport = () =>
      client.json("POST", "/index/asks/photonet/profile", { json: profileOf("same") });
    const [first, second] = [await requestImport(), await requestImport()];
    expect(second).toEqual(first);
    await client.waitForJob(first.job_id);
    expect((await requestsTo("same")).length).toBeGreaterThan(1);
    expect((await requestImport()).job_id).not.toBe(first.job_id);
  });
});
