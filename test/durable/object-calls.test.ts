import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { newId } from "../../src/ids.ts";
import { modelLimiter } from "../../src/models/call-limiter.ts";
import { type ObjectBinding, objectMethods, SCHEMAS } from "../../src/object-calls.ts";
import { indexDatabase } from "../../src/store/index-database/index-database.ts";
import { indexObject } from "../../src/store/index-object.ts";
import { fixture, newClient } from "../support/client.ts";
import { waitUntil } from "../support/wait.ts";

const indexId = newId("ind");
const CALLS: [ObjectBinding, name: string, call: (bindings?: Env) => Promise<unknown>][] = [
  ["MEDIA_INDEX", indexId, (bindings = env) => indexObject(bindings, indexId).getWebhook()],
  [
    "INDEX_DATABASE",
    indexId,
    (bindings = env) => indexDatabase(bindings, { indexId, shard: 0 }).size(),
  ],
  ["MODEL_LIMITER", "models", (bindings = env) => modelLimiter(bindings).listLimits()],
];

/** Resets an object, as a deployment does. Rejects with the error of its calls. */
function reset(binding: ObjectBinding, name: string, reason: string): Promise<void> {
  const object = env[binding].getByName(name) as DurableObjectStub;
  return runInDurableObject(object, (_, ctx) => ctx.abort(reason));
}

describe.each(CALLS)("%s", (binding, name, call) => {
  const own = SCHEMAS[binding]!;
  const getObject = () => env[binding].getByName(name) as DurableObjectStub; // anew after a reset
  afterEach(() => {
    SCHEMAS[binding] = own;
  });

  /** Does `work`, during which the object must restart. */
  async function expectRestart(work: () => Promise<void>): Promise<void> {
    await runInDurableObject(getObject(), (instance) => Object.assign(instance, { isOld: true }));
    await work();
    await call(); // waits for the new instance
    const isOld = await runInDurableObject(getObject(), (instance) => "isOld" in instance);
    expect(isOld).toBe(false);
  }

  it("is called again if it is reset during a call", async () => {
    let calls = 0;
    const getByName = () => {
      if (calls++ > 0) return getObject();
      return new Proxy(getObject(), { get: () => () => reset(binding, name, "it is reset") });
    };
    await call({ ...env, [binding]: { getByName } });
    expect(calls).toBe(2);
  });

  it("of an earlier version refuses the call of a later one, and restarts", async () => {
    await expectRestart(async () => {
      SCHEMAS[binding] = own + 1;
      await expect(call()).rejects.toMatchObject({ code: "upstream_unavailable" });
      SCHEMAS[binding] = own;
    });
  });

  it("of an earlier version restarts for a method that it doesn't have", async () => {
    await expectRestart(async () => {
      const methods = objectMethods(env, binding, name, "It") as unknown as {
        laterMethod(): Promise<void>;
      };
      await expect(methods.laterMethod()).rejects.toMatchObject({ code: "upstream_unavailable" });
    });
  });
});

const UPLOADS = 50;

it("50 uploads at once are all taken and indexed while the objects of the index are reset", async () => {
  const client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "resets" } });
  const row = await env.DB.prepare(
    "SELECT index_id AS id FROM indices WHERE name = 'resets'",
  ).first();
  const name = String(row!["id"]);
  const image = await fixture("words.jpg");
  const upload = async (number: number): Promise<number> => {
    const file = new File([image, `${number}`], `${number}.jpg`); // bytes of its own
    const { status } = await client.send("POST", "/index/resets/image", {
      form: { image_file: file },
    });
    await Promise.allSettled([
      reset("MEDIA_INDEX", name, "deployed"),
      reset("INDEX_DATABASE", name, "deployed"),
    ]);
    return status;
  };
  const statuses = await Promise.all(Array.from({ length: UPLOADS }, (_, i) => upload(i)));
  expect(statuses).toEqual(Array.from({ length: UPLOADS }, () => 200));
  await waitUntil(async () => {
    const { index } = await client.json("GET", "/index/resets");
    return index.states.ready === UPLOADS;
  });
});
