import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import worker from "../local/worker.ts";
import { IDEMPOTENCY } from "../src/config.ts";
import type { AccountId } from "../src/ids.ts";
import { beginAttempt, renewAttempt } from "../src/store/idempotency.ts";
import { type Call, type Client, fixture, fixtureUrl, type Json, newClient } from "./client.ts";

let client: Client;
let accountId: AccountId;
let videoId: string;

beforeAll(async () => {
  client = await newClient();
  accountId = (await client.json("POST", "/init")).account_id;
  await client.json("POST", "/index", { json: { index_name: "a" } });
  const form = { video_file: await fixture("clip.mp4") };
  const video = await client.json("POST", "/index/a/video", { form });
  videoId = video.asset_id;
  expect(await client.settled("a", video)).toMatchObject({ state: "ready" });
}, 60_000);

let keys = 0;
const newKey = () => `${crypto.randomUUID()}-${keys++}`;

const post = (path: string, key: string, call: Call = {}, by = client) =>
  by.send("POST", path, { ...call, headers: { ...call.headers, "idempotency-key": key } });

const textOf = async (response: Response) => ({
  status: response.status,
  body: await response.text(),
});
const total = async () => (await client.json("GET", "/index?limit=1")).total;
const picture = async (name: string) => ({ form: { image_file: await fixture(name) } });

describe("the same request with the same key has the same answer", () => {
  it.each<[string, () => Promise<Call>]>([
    ["/index", async () => ({ json: {} })],
    ["/index", async () => ({})],
    ["/index/a/image", () => picture("boats.jpg")],
    ["/index/a/image?image_url=FILESwords.jpg", async () => ({})],
    ["/index/a/video/VIDEO/transcript", async () => ({ form: { transcript: "Hello." } })],
    ["/index/a/videonet/search", async () => ({ json: { query: "lighthouse" } })],
  ])("POST %s", async (template, call) => {
    const path = template.replace("FILES", fixtureUrl("")).replace("VIDEO", videoId);
    const key = newKey();
    const first = await textOf(await post(path, key, await call()));
    expect(first.status).toBe(200);
    const { job_id }: Json = JSON.parse(first.body);
    if (job_id) await client.finished(job_id);
    const jobs = (await client.json("GET", "/jobs")).total;
    const indices = await total();
    const second = await post(path, key, await call());
    expect(second.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(await textOf(second)).toEqual(first);
    expect((await client.json("GET", "/jobs")).total).toBe(jobs);
    expect(await total()).toBe(indices);
    const other = await textOf(await post(path, newKey(), await call()));
    expect(other.body).not.toBe(first.body);
  });

  it("in quotation marks and without", async () => {
    const key = newKey();
    const first = await textOf(await post("/index", `"${key}"`));
    expect(await textOf(await post("/index", key))).toEqual(first);
  });

  it("but not of another account", async () => {
    const key = newKey();
    const other = await newClient();
    const json = { index_name: "mine" };
    const first = await textOf(await post("/index", key, { json }));
    const theirs = await textOf(await post("/index", key, { json }, other));
    expect(theirs.status).toBe(200);
    expect(theirs.body).not.toBe(first.body);
    expect(await textOf(await post("/index", key, { json }))).toEqual(first);
    expect(await textOf(await post("/index", key, { json }, other))).toEqual(theirs);
    expect((await other.json("GET", "/index")).total).toBe(1);
  });
});

describe("another request with the same key is refused", () => {
  const used = [[["header", "idempotency-key"], "value_error"]];

  it.each<[string, string, () => Promise<Call>]>([
    ["another body", "/index", async () => ({ json: { description: "another" } })],
    ["another query", "/index?index_name=b", async () => ({ json: {} })],
    ["another path", "/index/a/videonet/search", async () => ({ json: {} })],
  ])("%s", async (_, path, call) => {
    const key = newKey();
    expect((await post("/index", key, { json: {} })).status).toBe(200);
    const before = await total();
    const headers = { "idempotency-key": key };
    expect(await client.issues("POST", path, { ...(await call()), headers })).toEqual(used);
    expect(await total()).toBe(before);
  });

  it("another file, as far as its length tells", async () => {
    const key = newKey();
    const path = "/index/a/image";
    const send = async (name: string) => {
      const call = await picture(name);
      const length = String(call.form.image_file.size); // as any server would have checked it
      return post(path, key, { ...call, headers: { "content-length": length } });
    };
    expect((await send("words.jpg")).status).toBe(200);
    expect((await send("words.jpg")).status).toBe(200);
    expect((await send("boats.jpg")).status).toBe(422);
  });
});

it("a request that was refused may be sent again", async () => {
  const key = newKey();
  const path = "/index/later/image";
  expect((await post(path, key, await picture("boats.jpg"))).status).toBe(404);
  await client.json("POST", "/index", { json: { index_name: "later" } });
  expect((await post(path, key, await picture("boats.jpg"))).status).toBe(200);
});

it.each(["", '"', 'a"b', "a b", "ä", '"a\\b"', "x".repeat(256)])(
  "a key that is none is refused with all else: %j",
  async (key) => {
    if (key === "") return expect((await post("/index", key)).status).toBe(422);
    const headers = { "idempotency-key": key };
    const issues = await client.issues("POST", "/index", { json: { description: 1 }, headers });
    expect(issues).toEqual([
      [["body", "description"], "string_type"],
      [["header", "idempotency-key"], "string_pattern_mismatch"],
    ]);
  },
);

describe("while the first is under way", () => {
  it("the same request is told to wait, and then has its answer", async () => {
    const key = newKey();
    const boundary = "x";
    const file = new Uint8Array(await (await fixture("words.jpg")).arrayBuffer());
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="image_file"; filename="a.jpg"\r\n\r\n`;
    const { promise: rest, resolve: sendRest } = Promise.withResolvers<void>();
    const call = (wait: Promise<void>): Call => ({
      headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
      body: new ReadableStream({
        async start(controller) {
          controller.enqueue(new TextEncoder().encode(head));
          await wait;
          controller.enqueue(file);
          controller.enqueue(new TextEncoder().encode(`\r\n--${boundary}--\r\n`));
          controller.close();
        },
      }),
    });
    const first = post("/index/a/image", key, call(rest));
    await expect.poll(() => rowOf(key)).not.toBeNull();
    const second = await post("/index/a/image", key, call(Promise.resolve()));
    expect(second.status).toBe(409);
    const retryAfter = Number(second.headers.get("retry-after"));
    expect(retryAfter).toBeGreaterThan(0);
    expect(retryAfter).toBeLessThanOrEqual(IDEMPOTENCY.leaseMs / 1000);
    sendRest();
    const answer = await textOf(await first);
    expect(answer.status).toBe(200);
    const third = await post("/index/a/image", key, call(Promise.resolve()));
    expect(await textOf(third)).toEqual(answer);
  });

  it("and is heard of no more, the next does it", async () => {
    const key = newKey();
    const first = await textOf(await post("/index", key));
    const under =
      "UPDATE idempotency_keys SET status = NULL, held_until = ? WHERE idempotency_key = ?";
    await env.DB.prepare(under)
      .bind(Date.now() + 5000, key)
      .run();
    expect((await post("/index", key)).status).toBe(409);
    await env.DB.prepare(under)
      .bind(Date.now() - 1, key)
      .run();
    const issues = await client.issues("POST", "/index?index_name=other", {
      headers: { "idempotency-key": key },
    });
    expect(issues).toHaveLength(1);
    const next = await textOf(await post("/index", key));
    expect(next.status).toBe(200);
    expect(next.body).not.toBe(first.body);
    expect(await textOf(await post("/index", key))).toEqual(next);
  });

  it("and is heard of, nobody else does it", async () => {
    const now = Date.now();
    const place = { accountId, key: newKey(), fingerprint: "f" };
    const mine = { ...place, holder: "me" };
    const another = { ...place, holder: "another" };
    expect(await beginAttempt(env.DB, mine, now)).toBeNull();
    await renewAttempt(env.DB, mine, now + IDEMPOTENCY.renewMs);
    expect(await beginAttempt(env.DB, another, now + IDEMPOTENCY.leaseMs)).toMatchObject({
      status: null,
      heldUntil: now + IDEMPOTENCY.renewMs + IDEMPOTENCY.leaseMs,
    });
    const over = now + IDEMPOTENCY.renewMs + IDEMPOTENCY.leaseMs;
    expect(await beginAttempt(env.DB, another, over)).toBeNull();
    await renewAttempt(env.DB, mine, over + 1);
    expect((await rowOf(place.key))!["held_until"]).toBe(over + IDEMPOTENCY.leaseMs);
  });
});

function rowOf(key: string) {
  return env.DB.prepare("SELECT * FROM idempotency_keys WHERE idempotency_key = ?")
    .bind(key)
    .first();
}

it("an API key isn't told twice, nor kept", async () => {
  const key = newKey();
  const json = { name: "secret" };
  const first = await post("/keys", key, { json });
  expect(first.status).toBe(200);
  const { api_key }: Json = await first.json();
  const listed = (await client.json("GET", "/keys")).total;
  const second = await post("/keys", key, { json });
  expect(second.status).toBe(409);
  expect(await second.json()).toEqual({ detail: expect.stringContaining("told only once") });
  expect((await client.json("GET", "/keys")).total).toBe(listed);
  expect(JSON.stringify(await rowOf(key))).not.toContain(api_key.split(".")[1]);
});

it("after a day it is forgotten", async () => {
  const [asked, swept] = [newKey(), newKey()];
  const first = await textOf(await post("/index", asked));
  await post("/index", swept);
  await env.DB.prepare("UPDATE idempotency_keys SET created_at = created_at - ?")
    .bind(IDEMPOTENCY.keptMs)
    .run();
  expect((await textOf(await post("/index", asked))).body).not.toBe(first.body);
  const controller = { scheduledTime: Date.now(), cron: "* * * * *" } as ScheduledController;
  await worker.scheduled(controller, env);
  expect(await rowOf(swept)).toBeNull();
  expect(await rowOf(asked)).not.toBeNull();
});
