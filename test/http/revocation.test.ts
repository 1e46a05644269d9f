import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { KEY_RECHECK_MS } from "../../src/config.ts";
import { Client, clientOf, fixture, type Json, newClient } from "../support/client.ts";
import { fetchDeployed } from "../support/deployed.ts";

let admin: Client;

beforeAll(async () => {
  admin = await newClient();
});

const create = (name: string): Promise<Json> => admin.json("POST", "/keys", { json: { name } });
const statusOf = async (client: Client, method: string, path: string) =>
  (await client.send(method, path)).status;
const keyOf = async (keyId: string): Promise<Json> =>
  (await admin.json("GET", "/keys?limit=100")).keys.find((key: Json) => key.key_id === keyId);

/** Revokes a key in the database only, as another isolate would: this isolate's cache is stale. */
const revokeElsewhere = (keyId: string) =>
  env.DB.prepare("UPDATE api_keys SET revoked_at = 1 WHERE key_id = ?").bind(keyId).run();

describe("a revoked key", () => {
  it("returns 401 at once and stays in the list", async () => {
    const { key_id, api_key } = await create("gone");
    const client = new Client(api_key);
    expect(await statusOf(client, "GET", "/index")).toBe(200);
    const revoked = await admin.json("DELETE", `/keys/${key_id}`);
    expect(revoked.revoked_at).toEqual(expect.any(String));
    expect(await statusOf(client, "GET", "/index")).toBe(401);
    expect(await keyOf(key_id)).toMatchObject({ name: "gone", revoked_at: revoked.revoked_at });
    const repeated = await admin.json("DELETE", `/keys/${key_id}`);
    expect(repeated.revoked_at).toBe(revoked.revoked_at);
  });

  it("returns 401 within a minute in an isolate that has cached the key", async () => {
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

  it("returns 401 for an event stream at once, even in an isolate that has cached the key", async () => {
    const { key_id, api_key } = await create("listener");
    const client = new Client(api_key);
    await admin.json("POST", "/index", { json: { index_name: "streamed" } });
    expect(await statusOf(client, "GET", "/index/streamed")).toBe(200);
    await revokeElsewhere(key_id);
    expect(await statusOf(client, "GET", "/index/streamed")).toBe(200);
    expect(await statusOf(client, "GET", "/index/streamed/events")).toBe(401);
    expect(await statusOf(client, "GET", "/index/streamed")).toBe(401);
  });

  it("stays revoked when a check that began before the revocation ends after it", async () => {
    const { key_id, api_key } = await create("late");
    const client = new Client(api_key);
    // Both requests read the key's status, one before the revocation and one after.
    const [, , status] = await Promise.all([
      statusOf(client, "GET", "/index"),
      admin.json("DELETE", `/keys/${key_id}`),
      statusOf(client, "GET", "/index"),
    ]);
    expect([200, 401]).toContain(status);
    expect(await statusOf(client, "GET", "/index")).toBe(401);
  });

  it("may be the key of the request, which the record shows as is_current", async () => {
    const client = await newClient();
    const { keys } = await client.json("GET", "/keys");
    expect(keys).toMatchObject([
      { is_current: true, name: null, scopes: ["read", "write", "admin"] },
    ]);
    const revoked = await client.json("DELETE", `/keys/${keys[0].key_id}`);
    expect(revoked).toMatchObject({ is_current: true, revoked_at: expect.any(String) });
    expect(await statusOf(client, "GET", "/keys")).toBe(401);
  });

  it("must exist and belong to the account: otherwise revoking returns 404", async () => {
    const { key_id } = await create("mine");
    const stranger = await newClient();
    expect(await statusOf(stranger, "DELETE", `/keys/${key_id}`)).toBe(404);
    expect(await statusOf(admin, "DELETE", "/keys/key_0")).toBe(404);
    expect(await keyOf(key_id)).toMatchObject({ revoked_at: null });
    expect((await stranger.json("GET", "/keys")).total).toBe(1);
  });
});

describe("an NDJSON traversal that takes over a minute is aborted", () => {
  const END_MS = 10 * KEY_RECHECK_MS;

  /** Returns the body of a traversal. `interrupt` runs before the assets are streamed. */
  async function traverse(client: Client, interrupt: () => Promise<unknown>): Promise<string> {
    await client.json("POST", "/index", { json: { index_name: "traversed" } });
    const form = { image_file: await fixture("boats.jpg") };
    await client.json("POST", "/index/traversed/image", { form });
    const DB: D1Database = Object.create(env.DB, {
      prepare: { value: (sql: string) => env.DB.prepare(sql) },
      batch: {
        async value(statements: D1PreparedStatement[]) {
          const results = await env.DB.batch(statements);
          await interrupt();
          return results;
        },
      },
    });
    const headers = { accept: "application/x-ndjson" };
    const settings = { DB, IMAGE_EMBEDDINGS_URL: "" };
    const response = await fetchDeployed(settings, client.key, "/index/traversed/traverse", {
      headers,
    });
    expect(response.status).toBe(200);
    return response.text();
  }

  it.each([
    ["when the key expires", KEY_RECHECK_MS, false],
    ["when the key is revoked", END_MS, true],
  ])("%s", async (_, lifeMs, isRevoked) => {
    const now = Date.now();
    const account = `traverse-${crypto.randomUUID()}`;
    const client = await clientOf(account, ["read", "write", "admin"], now + lifeMs + 1000);
    const { keys } = await client.json("GET", "/keys");
    vi.useFakeTimers({ now, toFake: ["Date"] });
    try {
      expect(await traverse(client, async () => {})).toContain("boats.jpg");
      const aborted = traverse(client, async () => {
        if (isRevoked) await revokeElsewhere(keys[0].key_id);
        vi.setSystemTime(now + KEY_RECHECK_MS + 1000);
      });
      await expect(aborted).rejects.toThrow();
    } finally {
      vi.useRealTimers();
    }
  });
});
