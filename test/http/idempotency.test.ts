import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import worker from "../../local/worker.ts";
import { IDEMPOTENCY } from "../../src/config.ts";
import type { AccountId } from "../../src/ids.ts";
import { beginAttempt, renewAttempt } from "../../src/store/d1/idempotency.ts";
import {
  type Call,
  type Client,
  fixture,
  fixtureUrl,
  type Json,
  newClient,
} from "../support/client.ts";

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
  expect(await client.waitForAsset("a", video)).toMatchObject({ state: "ready" });
});

let keys = 0;
const newKey = () => `${crypto.randomUUID()}-${keys++}`;

const post = (path: string, key: string, call: Call = {}, by = client) =>
  by.send("POST", path, { ...call, headers: { ...call.headers, "idempotency-key": key } });

const readResponse = async (response: Response) => ({
  status: response.status,
  body: await response.text(),
});
const countIndices = async () => (await client.json("GET", "/index?limit=1")).total;
const imageForm = async (name: string) => ({ form: { image_file: await fixture(name) } });

describe("a repeated request with the same Idempotency-Key returns the first response", () => {
  it.each<[string, () => Promise<Call>]>([
    ["/index", async () => ({ json: {} })],
    ["/index", async () => ({})],
    ["/index/a/image", () => imageForm("boats.jpg")],
    ["/index/a/image?image_url=FILESwords.jpg", async () => ({})],
    ["/index/a/video/VIDEO/transcript", async () => ({ form: { transcript: "Hello." } })],
    ["/index/a/videonet/search", async () => ({ json: { query: "lighthouse" } })],
  ])("for POST %s", async (template, call) => {
    const path = template.replace("FILES", fixtureUrl("")).replace("VIDEO", videoId);
    const key = newKey();
    const first = await readResponse(await post(path, key, await call()));
    expect(first.status).toBe(200);
    const { job_id }: Json = JSON.parse(first.body);
    if (job_id) await client.waitForJob(job_id);
    const jobs = (await client.json("GET", "/jobs")).total;
    const indices = await countIndices();
    const second = await post(path, key, await call());
    expect(second.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(await readResponse(second)).toEqual(first);
    expect((await client.json("GET", "/jobs")).total).toBe(jobs);
    expect(await countIndices()).toBe(indices);
    const other = await readResponse(await post(path, newKey(), await call()));
    expect(other.body).not.toBe(first.body);
  });

  it("with the key in quotation marks or without", async () => {
    const key = newKey();
    const first = await readResponse(await post("/index", `"${key}"`));
    expect(await readResponse(await post("/index", key))).toEqual(first);
  });

  it("but not the response to another account", async () => {
    const key = newKey();
    const other = await newClient();
    const json = { index_name: "mine" };
    const first = await readResponse(await post("/index", key, { json }));
    const theirs = await readResponse(await post("/index", key, { json }, other));
    expect(theirs.status).toBe(200);
    expect(theirs.body).not.toBe(first.body);
    expect(await readResponse(await post("/index", key, { json }))).toEqual(first);
    expect(await readResponse(await post("/index", key, { json }, other))).toEqual(theirs);
    expect((await other.json("GET", "/index")).total).toBe(1);
  });
});

describe("a different request with the same Idempotency-Key returns 422", () => {
  const used = [[["header", "idempotency-key"], "value_error"]];

  it.each<[string, string, () => Promise<Call>]>([
    ["body", "/index", async () => ({ json: { description: "another" } })],
    ["query", "/index?index_name=b", async () => ({ json: {} })],
    ["path", "/index/a/videonet/search", async () => ({ json: {} })],
  ])("if its %s differs", async (_, path, call) => {
    const key = newKey();
    expect((await post("/index", key, { json: {} })).status).toBe(200);
    const before = await countIndices();
    const headers = { "idempotency-key": key };
    expect(await client.issues("POST", path, { ...(await call()), headers })).toEqual(used);
    expect(await countIndices()).toBe(before);
  });

  it("if its file has another length", async () => {
    const key = newKey();
    const path = "/index/a/image";
    const send = async (name: string) => {
      const call = await imageForm(name);
      const length = String(call.form.image_file.size); // servers verify Content-Length
      return post(path, key, { ...call, headers: { "content-length": length } });
    };
    expect((await send("words.jpg")).status).toBe(200);
    expect((await send("words.jpg")).status).toBe(200);
    expect((await send("boats.jpg")).status).toBe(422);
  });
});

it("a failed request can be repeated with the same Idempotency-Key", async () => {
  const key = newKey();
  const path = "/index/later/image";
  expect((await post(path, key, await imageForm("boats.jpg"))).status).toBe(404);
  await client.json("POST", "/index", { json: { index_name: "later" } });
  expect((await post(path, key, await imageForm("boats.jpg"))).status).toBe(200);
});

it.each(["", '"', 'a"b', "a b", "ä", '"a\\b"', "x".repeat(256)])(
  "an invalid Idempotency-Key is reported with all other issues: %j",
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

describe("while the first request with an Idempotency-Key is running", () => {
  it("a repeated request returns 409 with Retry-After, and later the first response", async () => {
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
    await expect.poll(() => getRow(key)).not.toBeNull();
    const second = await post("/index/a/image", key, call(Promise.resolve()));
    expect(second.status).toBe(409);
    const retryAfter = Number(second.headers.get("retry-after"));
    expect(retryAfter).toBeGreaterThan(0);
    expect(retryAfter).toBeLessThanOrEqual(IDEMPOTENCY.leaseMs / 1000);
    sendRest();
    const response = await readResponse(await first);
    expect(response.status).toBe(200);
    const third = await post("/index/a/image", key, call(Promise.resolve()));
    expect(await readResponse(third)).toEqual(response);
  });

  it("a repeated request runs once the lease of the first has expired", async () => {
    const key = newKey();
    const first = await readResponse(await post("/index", key));
    const setLease =
      "UPDATE idempotency_keys SET status = NULL, leased_until = ? WHERE idempotency_key = ?";
    await env.DB.prepare(setLease)
      .bind(Date.now() + 5000, key)
      .run();
    expect((await post("/index", key)).status).toBe(409);
    await env.DB.prepare(setLease)
      .bind(Date.now() - 1, key)
      .run();
    const issues = await client.issues("POST", "/index?index_name=other", {
      headers: { "idempotency-key": key },
    });
    expect(issues).toHaveLength(1);
    const next = await readResponse(await post("/index", key));
    expect(next.status).toBe(200);
    expect(next.body).not.toBe(first.body);
    expect(await readResponse(await post("/index", key))).toEqual(next);
  });

  it("its lease can be renewed by its owner only, until the lease has expired", async () => {
    const now = Date.now();
    const attempt = { accountId, key: newKey(), fingerprint: "f" };
    const first = { ...attempt, leaseOwner: "first" };
    const second = { ...attempt, leaseOwner: "second" };
    expect(await beginAttempt(env.DB, first, now)).toBeNull();
    await renewAttempt(env.DB, first, now + IDEMPOTENCY.renewMs);
    expect(await beginAttempt(env.DB, second, now + IDEMPOTENCY.leaseMs)).toMatchObject({
      status: null,
      leasedUntil: now + IDEMPOTENCY.renewMs + IDEMPOTENCY.leaseMs,
    });
    const expiry = now + IDEMPOTENCY.renewMs + IDEMPOTENCY.leaseMs;
    expect(await beginAttempt(env.DB, second, expiry)).toBeNull();
    await renewAttempt(env.DB, first, expiry + 1);
    expect((await getRow(attempt.key))!["leased_until"]).toBe(expiry + IDEMPOTENCY.leaseMs);
  });
});

function getRow(key: string) {
  return env.DB.prepare("SELECT * FROM idempotency_keys WHERE idempotency_key = ?")
    .bind(key)
    .first();
}

it("a repeated request for a new API key returns 409, and the key isn't stored", async () => {
  const key = newKey();
  const json = { name: "secret" };
  const first = await post("/keys", key, { json });
  expect(first.status).toBe(200);
  const { api_key }: Json = await first.json();
  const listed = (await client.json("GET", "/keys")).total;
  const second = await post("/keys", key, { json });
  expect(second.status).toBe(409);
  expect(await second.json()).toEqual({ detail: expect.stringContaining("shown only once") });
  expect((await client.json("GET", "/keys")).total).toBe(listed);
  expect(JSON.stringify(await getRow(key))).not.toContain(api_key.split(".")[1]);
});

it("an Idempotency-Key expires after a day, and its row is swept", async () => {
  const [reused, swept] = [newKey(), newKey()];
  const first = await readResponse(await post("/index", reused));
  await post("/index", swept);
  await env.DB.prepare("UPDATE idempotency_keys SET created_at = created_at - ?")
    .bind(IDEMPOTENCY.retentionMs)
    .run();
  expect((await readResponse(await post("/index", reused))).body).not.toBe(first.body);
  const controller = { scheduledTime: Date.now(), cron: "* * * * *" } as ScheduledController;
  await worker.scheduled(controller, env);
  expect(await getRow(swept)).toBeNull();
  expect(await getRow(reused)).not.toBeNull();
});
