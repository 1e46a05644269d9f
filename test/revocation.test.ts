import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { KEY_RECHECK_MS } from "../src/config.ts";
import { Client, clientOf, fixture, type Json, newClient } from "./client.ts";
import { askDeployed } from "./deployed.ts";

let admin: Client;

beforeAll(async () => {
  admin = await newClient();
});

const create = (name: string): Promise<Json> => admin.json("POST", "/keys", { json: { name } });
const statusOf = async (client: Client, method: string, path: string) =>
  (await client.send(method, path)).status;
const keyOf = async (keyId: string): Promise<Json> =>
  (await admin.json("GET", "/keys?limit=100")).keys.find((one: Json) => one.key_id === keyId);

/** So that this isolate hasn't heard of it. */
const revokeElsewhere = (keyId: string) =>
  env.DB.prepare("UPDATE api_keys SET revoked_at = 1 WHERE key_id = ?").bind(keyId).run();

describe("a revoked key", () => {
  it("is refused at once, and stays in the list", async () => {
    const { key_id, api_key } = await create("gone");
    const client = new Client(api_key);
    expect(await statusOf(client, "GET", "/index")).toBe(200);
    const revoked = await admin.json("DELETE", `/keys/${key_id}`);
    expect(revoked.revoked_at).toEqual(expect.any(String));
    expect(await statusOf(client, "GET", "/index")).toBe(401);
    expect(await keyOf(key_id)).toMatchObject({ name: "gone", revoked_at: revoked.revoked_at });
    const again = await admin.json("DELETE", `/keys/${key_id}`);
    expect(again.revoked_at).toBe(revoked.revoked_at);
  });

  it("is refused within a minute by whoever let it in before", async () => {
    const { key_id, api_key } = await create("elsewhere");
    const client = new Client(api_key);
    expect(await statusOf(client, "GET", "/index")).toBe(200);
    await revokeElsewhere(key_id);
    const now = Date.now();
    vi.useFakeTimers({ now: now + KEY_RECHECK_MS, toFake: ["Date"] });
    try {
      expect(await statusOf(client, "GET", "/index")).toBe(401);
    } finally {
      vi.useRealTimers();
    }
  });

  it("isn't let in to a stream, which goes on for a minute, by whoever let it in before", async () => {
    const { key_id, api_key } = await create("listener");
    const client = new Client(api_key);
    await admin.json("POST", "/index", { json: { index_name: "listened" } });
    expect(await statusOf(client, "GET", "/index/listened")).toBe(200);
    await revokeElsewhere(key_id);
    expect(await statusOf(client, "GET", "/index/listened")).toBe(200);
    expect(await statusOf(client, "GET", "/index/listened/events")).toBe(401);
    expect(await statusOf(client, "GET", "/index/listened")).toBe(401);
  });

  it("stays so where an earlier look at it is late", async () => {
    const { key_id, api_key } = await create("late");
    const client = new Client(api_key);
    // Both look whether it is revoked; the one before it was, the other after.
    const [, , status] = await Promise.all([
      statusOf(client, "GET", "/index"),
      admin.json("DELETE", `/keys/${key_id}`),
      statusOf(client, "GET", "/index"),
    ]);
    expect([200, 401]).toContain(status);
    expect(await statusOf(client, "GET", "/index")).toBe(401);
  });

  it("may be one's own: the answer says so", async () => {
    const client = await newClient();
    const { keys } = await client.json("GET", "/keys");
    expect(keys).toMatchObject([{ is_own: true, name: null, scopes: ["read", "write", "admin"] }]);
    const own = await client.json("DELETE", `/keys/${keys[0].key_id}`);
    expect(own).toMatchObject({ is_own: true, revoked_at: expect.any(String) });
    expect(await statusOf(client, "GET", "/keys")).toBe(401);
  });

  it("must be there, and be the account's", async () => {
    const { key_id } = await create("mine");
    const stranger = await newClient();
    expect(await statusOf(stranger, "DELETE", `/keys/${key_id}`)).toBe(404);
    expect(await statusOf(admin, "DELETE", "/keys/key_0")).toBe(404);
    expect(await keyOf(key_id)).toMatchObject({ revoked_at: null });
    expect((await stranger.json("GET", "/keys")).total).toBe(1);
  });
});

describe("a walk that goes on for more than a minute breaks off", () => {
  const END_MS = 10 * KEY_RECHECK_MS;

  /** What is sent of a walk, where `meanwhile` happens before it comes to the index's assets. */
  async function walk(client: Client, meanwhile: () => Promise<unknown>): Promise<string> {
    await client.json("POST", "/index", { json: { index_name: "walked" } });
    const form = { image_file: await fixture("boats.jpg") };
    await client.json("POST", "/index/walked/image", { form });
    const DB: D1Database = Object.create(env.DB, {
      prepare: { value: (sql: string) => env.DB.prepare(sql) },
      batch: {
        async value(statements: D1PreparedStatement[]) {
          const results = await env.DB.batch(statements);
          await meanwhile();
          return results;
        },
      },
    });
    const headers = { accept: "application/x-ndjson" };
    const settings = { DB, PICTURE_EMBEDDINGS_URL: "" };
    const response = await askDeployed(settings, client.key, "/index/walked/traverse", { headers });
    expect(response.status).toBe(200);
    return response.text();
  }

  it.each([
    ["where the key ends", KEY_RECHECK_MS, false],
    ["where it is revoked", END_MS, true],
  ])("%s", async (_, lifeMs, isRevoked) => {
    const now = Date.now();
    const account = `walk-${crypto.randomUUID()}`;
    const client = await clientOf(account, ["read", "write", "admin"], now + lifeMs + 1000);
    const { keys } = await client.json("GET", "/keys");
    vi.useFakeTimers({ now, toFake: ["Date"] });
    try {
      expect(await walk(client, async () => {})).toContain("boats.jpg");
      const broken = walk(client, async () => {
        if (isRevoked) await revokeElsewhere(keys[0].key_id);
        vi.setSystemTime(now + KEY_RECHECK_MS + 1000);
      });
      await expect(broken).rejects.toThrow();
    } finally {
      vi.useRealTimers();
    }
  });
});
