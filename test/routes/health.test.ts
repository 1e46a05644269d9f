import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { MODELS } from "../../src/config.ts";
import { sweep } from "../../src/lifecycle/sweep.ts";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";
import { fetchDeployed } from "../support/deployed.ts";
import { run } from "../support/store-queries.ts";

const SWEPT_AT = Date.now();
const PATH = "/health?deep=true";

let client: Client;

beforeAll(async () => {
  client = await newClient(["read", "write", "operator"]);
  await client.json("POST", "/index", { json: { index_name: "private" } });
  const form = { image_file: await fixture("boats.jpg") };
  const image = await client.json("POST", "/index/private/image", { form });
  await client.waitForAsset("private", image);
  await sweep(env, SWEPT_AT);
});

const deepHealth = async (): Promise<Json> => (await client.json("GET", PATH)).deployment;

/** Requests the health of a deployment with other bindings. */
async function healthWith(settings: Partial<Env>): Promise<{ status: number; body: Json }> {
  const response = await fetchDeployed(settings, client.key, PATH);
  return { status: response.status, body: await response.json() };
}

const stateOf = ({ bindings }: Json, name: string): string =>
  bindings.find(({ binding }: Json) => binding === name).state;

const rejects = async () => Promise.reject(new Error("VECTOR_ERROR: Status + 503"));
const hangs = () => new Promise<never>(() => {});

describe("the deep health check", () => {
  it("needs a key with the scope operator, and the plain one needs none", async () => {
    const anonymous = await fetchDeployed({}, "", PATH);
    expect(anonymous.status).toBe(401);
    const reader = await newClient(["read", "write", "admin"]);
    expect((await reader.send("GET", PATH)).status).toBe(403);
    const plain = await reader.json("GET", "/health?deep=false");
    expect(plain).toEqual({ service: "sightline", ok: true, version: "0.1.0" });
  });

  it("says when the cron trigger last ran", async () => {
    expect((await deepHealth()).last_swept_at).toBe(new Date(SWEPT_AT).toISOString());
  });

  it("calls each binding that doesn't bill calls", async () => {
    const { bindings } = await deepHealth();
    const states = Object.fromEntries(bindings.map(({ binding, state }: Json) => [binding, state]));
    expect(states).toEqual({
      DB: "ok",
      MEDIA: "ok",
      TEXT_VECTORS_1: "ok",
      IMAGE_VECTORS_1: "ok",
      TEXT_VECTORS_2: "ok",
      IMAGE_VECTORS_2: "ok",
      MEDIA_INDEX: "ok",
      INDEX_DATABASE: "ok",
      INGEST: "ok",
      JOBS: "ok",
      WEBHOOKS: "ok",
      MODEL_LIMITER: "ok",
    });
  });

  it("names nothing of any account", async () => {
    const { account_id } = await client.json("POST", "/init");
    const text = JSON.stringify(await deepHealth());
    expect(text).not.toContain("private");
    expect(text).not.toContain(account_id);
    expect(text).not.toMatch(/(?:vid|img|seg|job|key|acc|ind)_[0-9A-Z]{26}/);
  });

  it("has the status 200 while a binding is out that not every request needs", async () => {
    const TEXT_VECTORS_1 = { describe: rejects } as unknown as VectorizeIndex;
    const { status, body } = await healthWith({ TEXT_VECTORS_1 });
    expect(status).toBe(200);
    expect(body.ok).toBe(true);
    expect(stateOf(body.deployment, "TEXT_VECTORS_1")).toBe("unavailable");
    expect(stateOf(body.deployment, "IMAGE_VECTORS_1")).toBe("ok");
  });

  it("ends although a binding hangs", async () => {
    const MEDIA = { head: hangs } as unknown as R2Bucket;
    const { status, body } = await healthWith({ MEDIA });
    expect(status).toBe(200);
    expect(stateOf(body.deployment, "MEDIA")).toBe("timeout");
  });

  it.each([
    ["fails", rejects, "unavailable"],
    ["hangs", hangs, "timeout"],
  ])("has the status 503 and the same body if D1 %s", async (_, first, state) => {
    await client.json("GET", PATH); // the key's status is cached
    const statement = { bind: () => statement, first, all: first, run: first };
    const DB = { prepare: () => statement, batch: first } as unknown as D1Database;
    const { status, body } = await healthWith({ DB });
    expect(status).toBe(503);
    expect(body).toMatchObject({ ok: false, detail: "The database doesn't answer." });
    expect(stateOf(body.deployment, "DB")).toBe(state);
    expect(stateOf(body.deployment, "MEDIA")).toBe("ok");
    expect(body.deployment).toMatchObject({ fill: null, oldest_work: null });
    const { key } = await newClient(["operator"]);
    const unknownKey = await fetchDeployed({ DB }, key, PATH);
    expect(unknownKey.status).toBe(503);
  });

  it("has the age of the oldest work that waits", async () => {
    expect((await deepHealth()).oldest_work).toEqual({
      queued_asset_seconds: null,
      queued_job_seconds: null,
    });
    const age = "updated_at - 90000";
    await run(`UPDATE assets SET state = 'queued', updated_at = ${age}`);
    await run(
      `INSERT INTO jobs (job_id, account_id, kind, state, due_at, created_at, updated_at)
       SELECT 'job_1', account_id, 'import', 'queued', updated_at, 0, ${age} FROM assets`,
    );
    const { queued_asset_seconds, queued_job_seconds } = (await deepHealth()).oldest_work;
    await run("UPDATE assets SET state = 'ready'");
    await run("DELETE FROM jobs WHERE job_id = 'job_1'");
    expect(queued_asset_seconds).toBeGreaterThanOrEqual(90);
    expect(queued_job_seconds - queued_asset_seconds).toBeCloseTo(90);
  });

  it("counts the model calls that met a limit in the last hour", async () => {
    const model = MODELS.describe.id;
    const limiter = env.MODEL_LIMITER.getByName("models");
    await limiter.recordLimit(model, "3021");
    await limiter.recordLimit(model, "3021");
    expect((await deepHealth()).model_limits).toEqual([{ model, code: "3021", calls: 2 }]);
  });
});

describe("the fill of a deployment", () => {
  const fillOf = async (resource: string): Promise<Json> =>
    (await deepHealth()).fill.find((fill: Json) => fill.resource === resource);

  it("has D1, the fullest index database, and vectors and shards of each pair", async () => {
    const { fill } = await deepHealth();
    expect(fill.map(({ resource, vector_pair }: Json) => [resource, vector_pair])).toEqual([
      ["database", null],
      ["index_database", null],
      ["vectors", 1],
      ["shards", 1],
      ["vectors", 2],
      ["shards", 2],
    ]);
    for (const { used, soft_limit, limit } of fill.slice(0, 4)) {
      expect(used).toBeGreaterThan(0);
      expect(soft_limit).toBeLessThan(limit);
    }
  });

  it("is `filling` and `full` by the soft limit", async () => {
    const { used } = await fillOf("database");
    const statesAt = async (share: number) => {
      const { body } = await healthWith({ D1_BYTES: String(Math.floor(used / share)) });
      return body.deployment.fill[0].state;
    };
    expect(await statesAt(0.79)).toBe("ok");
    expect(await statesAt(0.81)).toBe("filling");
    expect(await statesAt(0.91)).toBe("full");
  });
});
