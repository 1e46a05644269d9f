import { env } from "cloudflare:workers";
import { beforeAll, expect, it } from "vitest";
import type { Operation } from "../../tools/openapi.ts";
import { type Client, clientOf, fixtureUrl, type Json } from "../support/client.ts";
import { OPERATIONS } from "../support/contract.ts";
import { eventIdOf } from "../support/event-reader.ts";
import type { IdField } from "../support/full-account.ts";

/** Stands for a credential in every URL that a user gives. */
const SECRET = "c3cre7";
const WEBHOOK = fixtureUrl(`services/${SECRET}?token=${SECRET}#${SECRET}`);

let writer: Client;
let reader: Client;
let video: Json;
let failed: Json;
let job: Json;
let watch: Json;
/** Id from which the event stream sends every event of the index. */
let firstEvent: string;

beforeAll(async () => {
  const account = crypto.randomUUID();
  writer = await clientOf(account, ["read", "write", "admin"]);
  reader = await clientOf(account, ["read"]);
  const json = { index_name: "a", settings: { webhook_url: WEBHOOK } };
  await writer.json("POST", "/index", { json });
  const add = (url: string) =>
    writer.json("POST", `/index/a/video?video_url=${encodeURIComponent(url)}`);
  video = await add(fixtureUrl(`clip.mp4?X-Amz-Expires=60&X-Amz-Signature=${SECRET}#${SECRET}`));
  failed = await add(fixtureUrl(`no-such-file.mp4?sig=${SECRET}`));
  await Promise.all([video, failed].map((asset) => writer.waitForAsset("a", asset)));
  const url = fixtureUrl(`other.mp4?token=${SECRET}`);
  job = await writer.json("POST", "/index/a/videonet/url", { json: { url, follow: true } });
  await writer.waitForJob(job.job_id);
  const watched = { name: "Goats", query: "goats", webhook_url: WEBHOOK };
  watch = await writer.json("POST", "/index/a/watches", { json: watched });
  firstEvent = await eventIdOf(writer, "a", 0);
});

const READS = OPERATIONS.filter(({ method, scope }) => method === "GET" && scope === "read");

it.each(READS)("$method $path shows a key that reads no credential", async (operation) => {
  for (const id of [video.asset_id, failed.asset_id]) {
    const response = await reader.send("GET", fill(operation, id), {
      headers: { "last-event-id": firstEvent },
    });
    expect(response.status).not.toBe(403);
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    const text = isStream ? await firstChunk(response) : await response.text();
    expect(text).not.toContain(SECRET);
  }
});

it("a streamed traversal and an export show a key that reads no credential", async () => {
  for (const path of ["/index/a/traverse", "/index/a/export"]) {
    const response = await reader.send("GET", path, {
      headers: { accept: "application/x-ndjson" },
    });
    expect(await response.text()).not.toContain(SECRET);
  }
});

it("a key that writes sees the webhook's URL, and one that only reads its origin", async () => {
  const settingsOf = async (client: Client) =>
    (await client.json("GET", "/index/a")).index.settings;
  expect(await settingsOf(writer)).toEqual({ webhook_url: WEBHOOK });
  expect(await settingsOf(reader)).toEqual({ webhook_url: new URL("/", WEBHOOK).href });
});

it("the URL of a file is stored without its signature once the asset is ready", async () => {
  expect((await writer.json("GET", `/index/a/video/${video.asset_id}`)).source.url).toBe(
    fixtureUrl("clip.mp4"),
  );
  const { results } = await env.DB.prepare("SELECT source FROM assets WHERE asset_id = ?")
    .bind(video.asset_id)
    .all();
  expect(JSON.stringify(results)).not.toContain(SECRET);
  const objects = await env.MEDIA.list({ limit: 1000 });
  for (const { key } of objects.objects.filter((object) => object.key.includes(video.asset_id))) {
    const bytes = await (await env.MEDIA.get(key))!.arrayBuffer();
    expect(Buffer.from(bytes).includes(SECRET)).toBe(false);
  }
});

it("a failed download keeps the whole URL, for a retry", async () => {
  const row = await env.DB.prepare("SELECT source FROM assets WHERE asset_id = ?")
    .bind(failed.asset_id)
    .first<string>("source");
  expect(row).toContain(`sig=${SECRET}`);
});

function fill({ path, parameters }: Operation, videoId: string): string {
  const ids: Partial<Record<IdField, string>> = {
    index_name: "a",
    video_id: videoId,
    job_id: job.job_id,
    image_id: videoId,
    watch_id: watch.watch_id,
  };
  const idOf = (name: IdField) => {
    expect(ids[name], `${name} of ${path}`).toBeDefined();
    return ids[name]!;
  };
  const query = new URLSearchParams();
  for (const { name, in: part, required } of parameters) {
    if (part === "query" && required) query.set(name, "lantern");
  }
  return `${path.replaceAll(/\{(\w+)\}/g, (_, name: IdField) => idOf(name))}?${query.toString()}`;
}

async function firstChunk(response: Response): Promise<string> {
  const body = response.body!.getReader();
  const { value } = await body.read();
  await body.cancel();
  return new TextDecoder().decode(value);
}
