import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { verifyKey } from "../../src/keys.ts";
import { parseSecrets } from "../../src/signed-token.ts";
import { admitKey } from "../../src/store/d1/keys.ts";
import { type Client, type Json, newClient } from "../support/client.ts";
import { fetchDeployed } from "../support/deployed.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/init");
});

/** Makes a D1 binding with some other methods. */
const databaseWith = (methods: Partial<D1Database>): Partial<Env> => ({
  DB: Object.create(
    { prepare: env.DB.prepare.bind(env.DB), batch: env.DB.batch.bind(env.DB) },
    Object.getOwnPropertyDescriptors({ withSession: env.DB.withSession.bind(env.DB), ...methods }),
  ) as D1Database,
});

/** A replica that has no row yet. */
const emptyReplica = {
  withSession: () => env.DB.withSession("first-unconstrained"),
  prepare: () => ({ bind: () => ({ all: async () => NO_ROWS }) }),
};
const NO_ROWS = { results: [], meta: { rows_read: 0, rows_written: 0 } };
const LAGGING = databaseWith({ withSession: () => emptyReplica as unknown as D1DatabaseSession });

function searchIn(settings: Partial<Env>, index: string, key = client.key): Promise<Response> {
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify({ query: "boats" }) };
  return fetchDeployed(settings, key, `/index/${index}/search`, init);
}

describe("while replicas lag", () => {
  it("a new key is admitted, and a new index is searched", async () => {
    const { api_key } = await client.json("POST", "/keys", { json: { name: "new" } });
    await client.json("POST", "/index", { json: { index_name: "new" } });
    expect((await searchIn(LAGGING, "new", api_key)).status).toBe(200);
    expect((await searchIn(LAGGING, "unknown", api_key)).status).toBe(404);
  });

  it("a new account is created by its first request", async () => {
    const { key } = await newClient();
    const response = await fetchDeployed(LAGGING, key, "/init", { method: "POST" });
    expect(await response.json()).toMatchObject({ created: true });
  });

  it("a key that a replica admits is refused once the primary has been asked", async () => {
    const { api_key, key_id } = await client.json("POST", "/keys", { json: { name: "old" } });
    const known = {
      ...emptyReplica,
      prepare: () => ({ bind: () => ({ all: async () => ({ ...NO_ROWS, results: [{}] }) }) }),
    };
    const replica = known as unknown as D1DatabaseSession;
    const settings = databaseWith({ withSession: () => replica });
    await env.DB.prepare("UPDATE api_keys SET revoked_at = 1 WHERE key_id = ?").bind(key_id).run();
    const statuses: number[] = [];
    for (let i = 0; i < 2; i++) {
      statuses.push((await fetchDeployed(settings, api_key, "/index")).status);
    }
    expect(statuses).toEqual([200, 401]);
  });
});

describe("a replica near the client", () => {
  it("admits a key while the primary doesn't answer", async () => {
    const { key } = await newClient(["operator"]);
    const claims = await verifyKey(parseSecrets(env.KEY_SECRETS), key);
    await admitKey(env.DB, claims!, Date.now());
    const fails = async () => Promise.reject(new Error("D1_ERROR: primary"));
    const statement = { bind: () => statement, first: fails, all: fails, run: fails };
    const prepare = () => statement as unknown as D1PreparedStatement;
    const settings = databaseWith({ prepare, batch: fails });
    const response = await fetchDeployed(settings, key, "/health?deep=true");
    expect(response.status).toBe(503);
    expect((await response.json<Json>()).deployment.last_swept_at).toBeNull();
  });

  it("lets the first search of an index begin before the primary answers", async () => {
    await client.json("POST", "/index", { json: { index_name: "cold" } });
    const begun = Promise.withResolvers<void>();
    const { TEXT_VECTORS_1 } = env;
    const query: VectorizeIndex["query"] = (vector, options) => {
      begun.resolve();
      return TEXT_VECTORS_1.query(vector, options);
    };
    const batch: D1Database["batch"] = async (statements) => {
      await begun.promise;
      return env.DB.batch(statements);
    };
    const vectors = { TEXT_VECTORS_1: { query } as unknown as VectorizeIndex };
    const settings = { ...databaseWith({ batch }), ...vectors };
    expect((await searchIn(settings, "cold")).status).toBe(200);
  });
});
