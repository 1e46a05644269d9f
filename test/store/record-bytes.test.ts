import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ACCOUNT_LIMITS, IDEMPOTENCY, JOBS } from "../../src/config.ts";
import { newId } from "../../src/ids.ts";
import { sweep } from "../../src/lifecycle/sweep.ts";
import {
  type Call,
  type Client,
  fixture,
  fixtureUrl,
  type Json,
  newClient,
} from "../support/client.ts";
import { profileOf, runImport, sceneImage } from "../support/import-helpers.ts";
import { stubPlatform } from "../support/platform-stubs.ts";
import { run } from "../support/store-queries.ts";
import { encode } from "../support/tus-client.ts";

const KIB = 1024;
let client: Client;
let accountId: string;
let image: Json;

beforeAll(async () => {
  for (const scene of ["shared", "other"]) {
    await stubPlatform(scene, { items: [sceneImage("1"), sceneImage("2")] });
  }
  client = await newClient();
  accountId = (await client.json("POST", "/init")).account_id;
  await client.json("POST", "/index", { json: { index_name: "a" } });
  const form = { image_file: await fixture("boats.jpg") };
  image = await client.waitForAsset("a", await client.json("POST", "/index/a/image", { form }));
});

beforeEach(() => setLimits({}));

const setLimits = (limits: object) =>
  run("UPDATE accounts SET limits = ? WHERE account_id = ?", JSON.stringify(limits), accountId);

async function readBytes(): Promise<number> {
  const sql = "SELECT record_bytes AS bytes FROM accounts WHERE account_id = ?";
  return (await env.DB.prepare(sql).bind(accountId).first<number>("bytes"))!;
}

/** Leaves the account `bytes` of its share. */
const leaveRoom = async (bytes: number) => setLimits({ record_bytes: (await readBytes()) + bytes });

/** Sums the rows of the account, as a recount would. */
async function sumRows(): Promise<number> {
  const byAccount = ["indices", "assets", "uploads", "jobs", "idempotency_keys", "api_keys"];
  const sums = [...byAccount, "sources"].map(
    (table) => `SELECT SUM(record_bytes) AS bytes FROM ${table} WHERE account_id = ?`,
  );
  sums.push(
    `SELECT SUM(imports.record_bytes) AS bytes FROM imports JOIN indices USING (index_id)
      WHERE account_id = ?`,
    `SELECT SUM(job_items.record_bytes) AS bytes FROM job_items JOIN jobs USING (job_id)
      WHERE account_id = ?`,
  );
  const statements = sums.map((sql) => env.DB.prepare(sql).bind(accountId));
  const results = await env.DB.batch<{ bytes: number | null }>(statements);
  return results.reduce((sum, { results: [row] }) => sum + (row!.bytes ?? 0), 0);
}

const large = (bytes: number) => ({ text: "x".repeat(bytes) });

describe("the bytes of an account's records", () => {
  it("are the sum of its rows after each kind of request, and go down with a deletion", async () => {
    const name = "counted";
    await client.json("POST", "/index", {
      json: { index_name: name, metadata: large(5 * KIB) },
      headers: { "idempotency-key": crypto.randomUUID() },
    });
    expect(await readBytes()).toBe(await sumRows());
    await client.json("PATCH", `/index/${name}`, { json: { metadata: large(60 * KIB) } });
    await client.json("PATCH", `/index/a/image/${image.asset_id}`, { json: { title: "renamed" } });
    await client.json("POST", "/keys", { json: { name: "a key" } });
    await runImport(client, `${name}/photonet/profile`, profileOf("shared"));
    const { job_id } = await client.json("POST", "/index/a/search", {
      json: { query: "boats", queue_job: true },
    });
    await client.waitForJob(job_id);
    const full = await readBytes();
    expect(full).toBe(await sumRows());
    const deletion = await client.json("DELETE", `/index/${name}`);
    await client.waitForJob(deletion.job_id);
    expect(await readBytes()).toBe(await sumRows());
    expect(await readBytes()).toBeLessThan(full - 60 * KIB);
  });
});

type RequestCase = [title: string, method: string, path: () => string, call: () => Promise<Call>];
const imageForm = async (metadata = "{}") => ({
  form: { image_file: await fixture("words.jpg"), metadata_str: metadata },
});

const ADDING: RequestCase[] = [
  ["an index", "POST", () => "/index", async () => ({ json: { metadata: large(50 * KIB) } })],
  [
    "longer metadata of an index",
    "PATCH",
    () => "/index/a",
    async () => ({ json: { metadata: large(50 * KIB) } }),
  ],
  [
    "longer metadata of an image",
    "PATCH",
    () => `/index/a/image/${image.asset_id}`,
    async () => ({ json: { metadata: large(50 * KIB) } }),
  ],
  ["an image", "POST", () => "/index/a/image", () => imageForm(JSON.stringify(large(50 * KIB)))],
  ["a URL", "POST", () => `/index/a/image?image_url=${fixtureUrl("clock.jpg")}`, async () => ({})],
  [
    "an import",
    "POST",
    () => "/index/a/photonet/profile",
    async () => ({ json: { ...profileOf("other"), metadata: large(50 * KIB) } }),
  ],
  [
    "a queued search",
    "POST",
    () => "/index/a/search",
    async () => ({ json: { query: "boats", queue_job: true } }),
  ],
  [
    "a resumable upload",
    "POST",
    () => "/index/a/uploads",
    async () => ({
      headers: {
        "tus-resumable": "1.0.0",
        "upload-length": "10",
        "upload-metadata": `filename ${encode("a.mp4")}`,
      },
    }),
  ],
  ["a traversal", "POST", () => "/index/a/traverse", async () => ({})],
  ["a key", "POST", () => "/keys", async () => ({ json: { name: "k" } })],
  [
    "an Idempotency-Key",
    "POST",
    () => "/index",
    async () => ({ headers: { "idempotency-key": crypto.randomUUID() } }),
  ],
];

describe("an account whose share of D1 is full", () => {
  it.each(ADDING)("can't add %s, and can with more room", async (_, method, path, call) => {
    await leaveRoom(500);
    const before = await readBytes();
    const refused = await client.send(method, path(), await call());
    expect(refused.status).toBe(402);
    expect((await refused.json<Json>()).detail).toMatch(
      "This account has reached its limit record_bytes",
    );
    expect(await readBytes()).toBe(before);
    await setLimits({});
    expect((await client.send(method, path(), await call())).status).toBeLessThan(300);
  });

  it("doesn't hold up another account", async () => {
    await leaveRoom(0);
    const other = await newClient();
    await other.json("POST", "/index", { json: { metadata: large(50 * KIB) } });
  });

  it("reads, searches, shortens and deletes", async () => {
    await client.json("POST", "/index", {
      json: { index_name: "b", metadata: large(50 * KIB) },
    });
    await leaveRoom(0);
    await client.json("GET", "/index/b");
    await client.json("POST", "/index/a/search", { json: { query: "boats" } });
    await client.json("PATCH", "/index/b", { json: { metadata: large(40 * KIB) } });
    const { job_id } = await client.json("DELETE", "/index/b");
    expect(await client.waitForJob(job_id)).toMatchObject({ state: "succeeded" });
    await client.json("POST", "/index", { json: { metadata: large(10 * KIB) } });
  });

  it("gets the response of a repeated request whose key it used before", async () => {
    const headers = { "idempotency-key": crypto.randomUUID() };
    const created = await client.json("POST", "/index", { headers });
    await leaveRoom(0);
    expect(await client.json("POST", "/index", { headers })).toEqual(created);
  });

  it("gets no result of a search that was queued before", async () => {
    const { job_id } = await client.json("POST", "/index/a/search", {
      json: { query: "boats", queue_job: true },
    });
    await setLimits({ record_bytes: 1 });
    const { state, error } = await client.waitForJob(job_id);
    expect([
      ["failed", "account_full"],
      ["succeeded", undefined],
    ]).toContainEqual([state, error?.code]);
  });
});

it("concurrent requests don't exceed the bytes of records", async () => {
  await leaveRoom(200 * KIB);
  const call = { json: { metadata: large(60 * KIB) } };
  const responses = await Promise.all(
    Array.from({ length: 20 }, () => client.send("POST", "/index", call)),
  );
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(3);
  const { limits } = await client.json("POST", "/init");
  expect(await readBytes()).toBeLessThanOrEqual(limits.record_bytes);
});

it("an account has its maximum of indices, and one less after a deletion", async () => {
  const other = await newClient();
  const { account_id, limits } = await other.json("POST", "/init");
  expect(limits).toMatchObject({ indices: ACCOUNT_LIMITS.indices, record_bytes: 1024 ** 3 });
  await run("UPDATE accounts SET limits = '{\"indices\": 2}' WHERE account_id = ?", account_id);
  const create = (name: string) => other.send("POST", "/index", { json: { index_name: name } });
  expect([(await create("a")).status, (await create("b")).status]).toEqual([200, 200]);
  const refused = await create("c");
  expect(refused.status).toBe(402);
  expect((await refused.json<Json>()).detail).toMatch("limit indices (2)");
  await other.json("DELETE", "/index/a");
  expect((await create("c")).status).toBe(200);
});

describe("the sweep deletes", () => {
  it("jobs a week after their end, with their items", async () => {
    await client.json("POST", "/index", { json: { index_name: "old" } });
    const { job_id, source_id } = await runImport(
      client,
      "old/photonet/profile",
      profileOf("shared"),
    ).then((job) => ({ ...job, source_id: job.result.source_id }));
    const search = await client.json("POST", "/index/old/search", {
      json: { query: "boats", queue_job: true },
    });
    await client.waitForJob(search.job_id);
    const later = Date.now() + JOBS.retentionMs;
    await sweep(env, later - 60_000);
    expect((await client.send("GET", `/jobs/${search.job_id}`)).status).toBe(200);
    await sweep(env, later + 60_000);
    expect((await client.send("GET", `/jobs/${search.job_id}`)).status).toBe(404);
    // The last sync of a source stays with it.
    expect((await client.send("GET", `/jobs/${job_id}`)).status).toBe(200);
    expect((await client.send("DELETE", `/index/old/sources/${source_id}`)).status).toBeLessThan(
      300,
    );
    await sweep(env, later + JOBS.retentionMs + 120_000);
    expect((await client.send("GET", `/jobs/${job_id}`)).status).toBe(404);
    expect(await readBytes()).toBe(await sumRows());
  });

  it("keys of requests after a day, and expired keys after a week", async () => {
    await client.json("POST", "/index", { headers: { "idempotency-key": "pruned" } });
    const keyId = newId("key");
    await run(
      `INSERT INTO api_keys (key_id, account_id, scopes, created_at, expires_at)
       VALUES (?, ?, 'read', 0, ?)`,
      keyId,
      accountId,
      Date.now(),
    );
    const count = async () =>
      env.DB.prepare(
        `SELECT (SELECT COUNT(*) FROM idempotency_keys WHERE idempotency_key = 'pruned')
          + (SELECT COUNT(*) FROM api_keys WHERE key_id = ?) AS n`,
      )
        .bind(keyId)
        .first("n");
    expect(await count()).toBe(2);
    await sweep(env, Date.now() + IDEMPOTENCY.retentionMs + 1000);
    expect(await count()).toBe(1);
    await sweep(env, Date.now() + JOBS.retentionMs + 1000);
    expect(await count()).toBe(0);
    expect(await readBytes()).toBe(await sumRows());
  });
});
