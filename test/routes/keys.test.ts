import { env } from "cloudflare:workers";
import { base64url } from "jose";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { KEY_RECHECK_MS } from "../../src/config.ts";
import { newId } from "../../src/ids.ts";
import { type Scope, signKey, verifyKey } from "../../src/keys.ts";
import { parseSecrets } from "../../src/signed-token.ts";
import { Client, clientOf, type Json, newClient } from "../support/client.ts";
import { fetchDeployed } from "../support/deployed.ts";
import { waitUntil } from "../support/wait.ts";

let admin: Client;

beforeAll(async () => {
  admin = await newClient();
});

const secrets = parseSecrets(env.KEY_SECRETS);
const create = (json: object, by = admin): Promise<Json> => by.json("POST", "/keys", { json });
const statusOf = async (client: Client, method: string, path: string, json?: object) =>
  (await client.send(method, path, json && { json })).status;
const keyOf = async (keyId: string, by = admin): Promise<Json> =>
  (await by.json("GET", "/keys?limit=100")).keys.find((key: Json) => key.key_id === keyId);
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);

describe("a key created over HTTP", () => {
  it("has the requested scopes only, and is shown only once", async () => {
    const { api_key, ...record } = await create({ name: "reader", scopes: ["read"] });
    expect(record).toEqual({
      key_id: expect.stringMatching(/^key_[0-9A-Z]{26}$/),
      name: "reader",
      scopes: ["read"],
      is_current: false,
      created_at: expect.any(String),
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
      kid: null,
    });
    const reader = new Client(api_key);
    const [adminAccount, readerAccount] = await Promise.all([
      admin.json("POST", "/init"),
      reader.json("POST", "/init"),
    ]);
    const { account_id } = adminAccount;
    expect(readerAccount).toMatchObject({ account_id, created: false, scopes: ["read"] });
    expect(await statusOf(reader, "GET", "/index")).toBe(200);
    expect(await statusOf(reader, "POST", "/index")).toBe(403);
    expect(await statusOf(reader, "GET", "/keys")).toBe(403);
    const listed = await (await admin.send("GET", "/keys")).text();
    expect(listed).toContain(record.key_id);
    expect(listed).not.toContain(api_key.split(".")[2]);
    expect(listed).not.toContain("api_key");
  });

  it("has its creator's scopes by default, and no scope twice", async () => {
    expect((await create({ name: "a" })).scopes).toEqual(["read", "write", "admin"]);
    const repeated = await create({ name: "b", scopes: ["write", "read", "write"] });
    expect(repeated.scopes).toEqual(["read", "write"]);
  });

  it("never has the scope operator, even if its creator has it", async () => {
    const operator = await clientOf(crypto.randomUUID(), ["admin", "operator"]);
    expect((await create({ name: "a" }, operator)).scopes).toEqual(["admin"]);
    const issues = await operator.issues("POST", "/keys", {
      json: { name: "b", scopes: ["admin", "operator"] },
    });
    expect(issues).toEqual([[["body", "scopes", 1], "literal_error"]]);
  });

  it("expires at the requested time, rounded down to seconds", async () => {
    const at = inDays(1);
    const { api_key, expires_at } = await create({ name: "a", expires_at: at.toISOString() });
    expect(Date.parse(expires_at)).toBe(Math.floor(at.getTime() / 1000) * 1000);
    expect((await verifyKey(secrets, api_key))!.expiresAt).toBe(Date.parse(expires_at));
    const offset = await create({ name: "b", expires_at: "2999-01-01T02:00:00+02:00" });
    expect(offset.expires_at).toBe("2999-01-01T00:00:00.000Z");
  });

  it.each<[object, [(string | number)[], string][]]>([
    [{}, [[["body", "name"], "missing"]]],
    [{ name: "" }, [[["body", "name"], "string_too_short"]]],
    [{ name: "a", scopes: [] }, [[["body", "scopes"], "too_short"]]],
    [{ name: "a", scopes: ["read", "fly"] }, [[["body", "scopes", 1], "literal_error"]]],
    [{ name: "a", scopes: ["operator"] }, [[["body", "scopes", 0], "literal_error"]]],
    [{ name: "a", expires_at: "tomorrow" }, [[["body", "expires_at"], "value_error"]]],
    [{ name: "a", expires_at: "2020-01-01T00:00:00Z" }, [[["body", "expires_at"], "value_error"]]],
  ])("returns 422 for invalid fields: %j", async (json, issues) => {
    expect(await admin.issues("POST", "/keys", { json })).toEqual(issues);
  });
});

it("POST /init creates the account of a key once and is idempotent", async () => {
  const client = await clientOf(`init-${crypto.randomUUID()}`, ["admin", "read"]);
  const accounts = await Promise.all(Array.from({ length: 5 }, () => client.json("POST", "/init")));
  expect(accounts.filter(({ created }) => created)).toHaveLength(1);
  const identities = accounts.map(({ account_id, created_at }) => account_id + created_at);
  expect(new Set(identities).size).toBe(1);
  const json = { name: "Ada", email: "ada@example.com" };
  const first = await client.json("POST", "/init", { json });
  expect(first).toMatchObject({ ...json, created: false });
  expect(await client.json("POST", "/init", { json })).toEqual(first);
  expect(await client.json("POST", "/init")).toEqual(first);
});

describe("POST /init with a key that lacks the scope admin", () => {
  const name = `reader-${crypto.randomUUID()}`;

  it("returns the account, also for the name that it has", async () => {
    const client = await clientOf(name, ["read"]);
    const record = await client.json("POST", "/init");
    expect(await client.json("POST", "/init", { json: { name: record.name } })).toEqual({
      ...record,
      created: false,
    });
  });

  it.each([{ name: "Other" }, { email: "other@example.com" }])(
    "returns 403 to %j and changes nothing",
    async (json) => {
      const client = await clientOf(name, ["read", "write"]);
      const before = await client.json("POST", "/init");
      expect((await client.send("POST", "/init", { json })).status).toBe(403);
      expect(await client.json("POST", "/init")).toEqual({ ...before, created: false });
    },
  );
});

describe("a key can't grant", () => {
  const limited = (scopes: Scope[], expiresAt: number | null = null) =>
    clientOf(`granting-${crypto.randomUUID()}`, scopes, expiresAt);

  it("a scope that it lacks", async () => {
    const client = await limited(["admin", "read"]);
    for (const scopes of [["write"], ["read", "write"]]) {
      expect(await statusOf(client, "POST", "/keys", { name: "a", scopes })).toBe(403);
    }
    expect((await create({ name: "a" }, client)).scopes).toEqual(["read", "admin"]);
    expect((await client.json("GET", "/keys")).total).toBe(2);
  });

  it("a later expiry than its own", async () => {
    const end = Math.floor(inDays(2).getTime() / 1000) * 1000;
    const client = await limited(["admin"], end);
    for (const expires_at of [null, inDays(3).toISOString()]) {
      expect(await statusOf(client, "POST", "/keys", { name: "a", expires_at })).toBe(403);
    }
    const ends = [await create({ name: "a" }, client)];
    ends.push(await create({ name: "b", expires_at: inDays(1).toISOString() }, client));
    expect(Date.parse(ends[0].expires_at)).toBe(end);
    expect(Date.parse(ends[1].expires_at)).toBeLessThan(end);
  });
});

it("GET /keys returns pages", async () => {
  const client = await newClient();
  for (const name of ["a", "b", "c"]) await create({ name }, client);
  const first = await client.json("GET", "/keys?limit=2");
  const second = await client.json("GET", `/keys?limit=2&cursor=${first.next_cursor}`);
  expect([first.total, second.total, second.next_cursor]).toEqual([4, 4, null]);
  const names = [...first.keys, ...second.keys].map(({ name }) => name);
  expect(new Set(names)).toEqual(new Set([null, "a", "b", "c"]));
});

it("a key's last_used_at is updated once a minute, together with its kid", async () => {
  const { key_id, api_key } = await create({ name: "used" });
  const client = new Client(api_key);
  await client.json("GET", "/index");
  const first = await waitUntil(async () => (await keyOf(key_id)).last_used_at);
  const now = Date.now();
  vi.useFakeTimers({ now: now + KEY_RECHECK_MS - 1000, toFake: ["Date"] });
  try {
    await client.json("GET", "/index");
    vi.setSystemTime(now + KEY_RECHECK_MS + 1000);
    await client.json("GET", "/index");
    await waitUntil(async () => (await keyOf(key_id)).last_used_at !== first);
  } finally {
    vi.useRealTimers();
  }
  const { last_used_at, kid } = await keyOf(key_id);
  expect(Date.parse(last_used_at) - now).toBe(KEY_RECHECK_MS + 1000);
  expect(kid).toBe(env.KEY_SECRETS.split(":")[0]);
});

it("a key of the command line is listed with the name that it carries", async () => {
  const { accountId, accountName } = (await verifyKey(secrets, admin.key))!;
  const names = { accountName: accountName.slice(0, 3), keyName: "laptop" };
  const claims = { keyId: newId("key"), accountId, ...names, expiresAt: null };
  const reader = new Client(await signKey(secrets, { ...claims, scopes: ["read"] }));
  expect(await keyOf(claims.keyId)).toBeUndefined();
  expect(await statusOf(reader, "GET", "/index")).toBe(200);
  expect(await keyOf(claims.keyId)).toMatchObject({ name: "laptop", scopes: ["read"] });
});

it("creating a key past the account's limit of valid keys returns 402", async () => {
  const client = await newClient();
  const { account_id } = await client.json("POST", "/init");
  await env.DB.prepare(`UPDATE accounts SET limits = '{"keys": 2}' WHERE account_id = ?`)
    .bind(account_id)
    .run();
  const { key_id } = await create({ name: "a" }, client);
  const refused = await client.send("POST", "/keys", { json: { name: "b" } });
  expect(refused.status).toBe(402);
  expect(((await refused.json()) as Json).detail).toContain("keys (2)");
  await client.json("DELETE", `/keys/${key_id}`);
  await create({ name: "b" }, client);
});

describe("the signing secret", () => {
  const makeSecret = (kid: string, fill: number) =>
    `${kid}:${base64url.encode(new Uint8Array(32).fill(fill))}`;
  const status = async (KEY_SECRETS: string, key: string) =>
    (await fetchDeployed({ KEY_SECRETS }, key, "/index")).status;
  const sign = async (text: string) => {
    const { accountId, accountName } = (await verifyKey(secrets, admin.key))!;
    const claims = { keyId: newId("key"), accountId, accountName, expiresAt: null };
    return signKey(parseSecrets(text), { ...claims, scopes: ["read"] });
  };

  it("can be rotated: keys of the old secret work until the secret is removed", async () => {
    const [before, after] = [env.KEY_SECRETS, makeSecret("next", 7)];
    const both = `${after},${before}`;
    const [oldKey, newKey] = [admin.key, await sign(both)];
    expect(await status(before, oldKey)).toBe(200);
    expect(await status(before, newKey)).toBe(401);
    expect(await status(both, oldKey)).toBe(200);
    expect(await status(both, newKey)).toBe(200);
    expect(await status(after, oldKey)).toBe(401);
    expect(await status(after, newKey)).toBe(200);
  });

  it("rejects a key that another secret with the same kid signed", async () => {
    const kid = env.KEY_SECRETS.split(":")[0]!;
    expect(await status(env.KEY_SECRETS, await sign(makeSecret(kid, 9)))).toBe(401);
  });
});
