import { base64url } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import type { Operation, Schema } from "../bench/contract/document.ts";
import { SCOPES } from "../src/keys.ts";
import { newRevoked, signedBy, spliced, unsigned } from "./bad-keys.ts";
import { Client, clientOf, type Json, newClient } from "./client.ts";
import { OPERATIONS } from "./contract.ts";
import { type Id, IDS, likeness, newWorld, type World } from "./worlds.ts";

const GUARDED = OPERATIONS.filter(({ scope }) => scope !== null);

/** What names nothing of an account. What is in neither list fails the test: say which it is. */
const PLAIN = new Set(
  `limit state type name email scopes expires_at description metadata settings title video_url image_url
   video_file image_file transcript metadata_str format url platform playlist_id query username follow
   top_k top_p modes collapse use_boxes use_masks queue_job filter group_by start_seconds end_seconds
   system_prompt markdown language stream search_term start_time end_time idempotency-key tus-resumable
   upload-checksum upload-length upload-defer-length upload-metadata upload-offset
   x-http-method-override`.split(/\s+/),
);

let owner: World;
let stranger: World;
let revoked: Client;

beforeAll(async () => {
  [owner, stranger] = await Promise.all([newWorld(), newWorld()]);
  revoked = await newRevoked();
}, 120_000);

it("every name in the contract is known to name something of an account, or nothing", () => {
  const names = GUARDED.flatMap(namesOf).map(({ name }) => name);
  const isKnown = (name: string) => PLAIN.has(name) || IDS.some((id) => id === name);
  expect(names.filter((name) => !isKnown(name))).toEqual([]);
  expect(IDS.filter((id) => !names.includes(id))).toEqual([]);
  expect([...PLAIN].filter((name) => !names.includes(name))).toEqual([]);
});

it("every operation but the health check needs a key", () => {
  const open = OPERATIONS.filter(({ scope }) => scope === null);
  expect(open.map(({ path }) => path)).toEqual(["/health"]);
});

describe("a key that is no good is 401, whatever it asks for:", () => {
  it.each<[string, () => Promise<Client> | Client]>([
    ["none", () => new Client("")],
    ["garbage", () => new Client("garbage")],
    ["one with another's signature", () => spliced(owner.client, stranger.client)],
    ["one that nobody signed", () => unsigned(owner.client)],
    ["an expired one", () => clientOf("someone", ["read", "write"], Date.now() - 1000)],
    ["a revoked one", () => revoked],
    ["one of a secret that was retired", () => signedBy("retired", owner.client)],
    ["one of another secret by the same name", () => signedBy("test", owner.client)],
    ["a media token", mediaToken],
  ])("%s", async (what, make) => {
    const client = await make();
    for (const operation of GUARDED) {
      const response = await client.send(operation.method, fill(operation, owner));
      const told = `${operation.method} ${operation.path}`;
      expect({ told, status: response.status }).toEqual({ told, status: 401 });
      expect(response.headers.get("www-authenticate")).toBe("ApiKey");
      if (operation.method === "HEAD") continue;
      const { detail }: Json = await response.json();
      expect(detail).toBe(what === "none" ? MISSING : INVALID);
    }
  });

  const MISSING = "Send your API key in the X-API-Key header.";
  const INVALID = "The API key is not valid: unknown, expired or revoked.";
});

it.each(GUARDED)("$method $path is 403 without its scope", async (operation) => {
  const others = SCOPES.filter((other) => other !== operation.scope);
  const limited = await clientOf("limited", others);
  const response = await limited.send(operation.method, fill(operation, owner));
  expect(response.status).toBe(403);
});

const NAMING = GUARDED.map((operation) => ({
  title: `${operation.method} ${operation.path}`,
  operation,
  named: namesOf(operation).flatMap(({ name, part }) => {
    const id = IDS.find((one) => one === name);
    // A new index may have the name of another account's.
    const isMade = id === "index_name" && part !== "path";
    return id === undefined || isMade ? [] : [{ id, part }];
  }),
})).filter(({ named }) => named.length > 0);

describe.each(NAMING)("$title", ({ operation, named }) => {
  it("answers to another account's ids as to those of nothing, and shows nothing", async () => {
    const secrets = Object.values(owner.ids).flat().filter(isTelling);
    for (const { id, part } of named) {
      for (const foreign of owner.ids[id]) {
        const reader = id === "index_name" ? await empty() : stranger;
        const [real, made] = await Promise.all(
          [foreign, likeness(foreign)].map((value) => ask(reader, operation, id, part, value)),
        );
        expect(made).toEqual(real);
        const told = { id, foreign, status: real!.status };
        const fits = id === "cursor" ? [200, 422] : [404];
        expect({ ...told, fits: fits.includes(told.status) }).toEqual({ ...told, fits: true });
        expect(secrets.filter((secret) => real!.body.includes(secret))).toEqual([]);
      }
    }
  });
});

const IN_AN_INDEX = NAMING.map(({ title, operation, named }) => ({
  title,
  operation,
  named: named.filter(({ id }) => !["index_name", "job_id", "key_id"].includes(id)),
})).filter(({ operation, named }) => operation.path.includes("{index_name}") && named.length > 0);

it.each(IN_AN_INDEX)(
  "$title answers to another index's ids likewise",
  async ({ operation, named }) => {
    const { client, ids } = owner;
    await client.send("POST", "/index", { json: { index_name: "other" } });
    const other: World = { client, ids: { ...ids, index_name: ["other"] } };
    for (const { id, part } of named) {
      for (const foreign of ids[id]) {
        const [real, made] = await Promise.all(
          [foreign, likeness(foreign)].map((value) => ask(other, operation, id, part, value)),
        );
        expect(made).toEqual(real);
        expect(id === "cursor" ? [200, 404, 422] : [404]).toContain(real!.status);
      }
    }
  },
);

describe("what an account has after strangers were at it", () => {
  it("is all there", async () => {
    const { client, ids } = owner;
    const { assets } = await client.json("GET", "/index/private");
    const there = assets.map(({ asset_id }: Json) => asset_id);
    expect(there).toEqual(expect.arrayContaining(ids.asset_ids));
    for (const path of [
      `/index/private/video/${ids.video_id[0]}`,
      `/index/private/uploads/${ids.upload_id[0]}`,
      `/jobs/${ids.job_id[0]}`,
    ]) {
      expect((await client.send("GET", path)).status).toBe(200);
    }
    const { keys } = await client.json("GET", "/keys");
    expect(keys.every((key: Json) => key.revoked_at === null)).toBe(true);
    expect((await client.json("GET", "/index/private/sources")).total).toBe(1);
  });
});

describe("two accounts with an index of the same name", () => {
  it("see their own", async () => {
    for (const [one, other] of [
      [owner, stranger],
      [stranger, owner],
    ] as const) {
      const json = { query: "lantern", top_k: 500 };
      for (const answer of [
        await one.client.json("GET", "/index/private"),
        await one.client.json("POST", "/index/private/search", { json }),
        await one.client.json("GET", "/index/private/traverse"),
        await one.client.json("GET", "/jobs"),
        await one.client.json("GET", "/keys"),
      ]) {
        const text = JSON.stringify(answer);
        expect(
          Object.values(other.ids)
            .flat()
            .filter(isTelling)
            .filter((id) => text.includes(id)),
        ).toEqual([]);
      }
    }
  });

  it("hold the same bytes each for itself", () => {
    expect(owner.ids.image_id).not.toEqual(stranger.ids.image_id);
  });
});

it("a search's page cursor is a place, of no index", async () => {
  const json = { query: "words", cursor: base64url.encode(`at:0:${Date.now()}`) };
  const { segments } = await stranger.client.json("POST", "/index/private/search", { json });
  expect(segments.map(({ asset_id }: Json) => asset_id)).toContain(stranger.ids.image_id[0]);
  expect(segments.map(({ asset_id }: Json) => asset_id)).not.toContain(owner.ids.image_id[0]);
});

it("a key is no media token", async () => {
  const response = await owner.client.send("GET", `/media/${owner.client.key}/x`);
  expect(response.status).toBe(404);
});

/** All that an operation takes, by name. */
function namesOf({ parameters, json, form }: Operation): { name: string; part: string }[] {
  const fields = (schema: Schema | null) =>
    Object.keys(schema?.properties ?? {}).map((name) => ({ name, part: "body" }));
  return [
    ...parameters.map(({ name, in: part }) => ({ name, part: part as string })),
    ...fields(json),
    ...fields(form),
  ];
}

function fill({ path }: Operation, { ids }: World): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name as Id][0]!);
}

interface Told {
  status: number;
  body: string;
  headers: [string, string][];
}

/** What `world` is told where one id is another's: but for that id, and what differs each time. */
async function ask(
  world: World,
  operation: Operation,
  id: Id,
  part: string,
  value: string,
): Promise<Told> {
  const ids = { ...world.ids, ...(part === "path" && { [id]: [value] }) };
  const url = new URL(fill(operation, { ...world, ids }), "https://a.example");
  for (const { name, in: place, required } of operation.parameters) {
    if (place === "query" && required) url.searchParams.set(name, "lantern");
  }
  if (part === "query") url.searchParams.set(id, value);
  const list = operation.json?.properties?.[id]?.type === "array";
  const json = {
    ...(operation.json?.properties?.["query"] && { query: "lantern" }),
    ...(part === "body" && { [id]: list ? [value] : value }),
  };
  const call = operation.json ? { json } : {};
  const response = await world.client.send(operation.method, url.pathname + url.search, call);
  const body = (await response.text()).replaceAll(value, "…");
  const headers = [...response.headers].filter(([name]) => !CHANGING.test(name));
  return {
    status: response.status,
    body: body.replaceAll(/"\/?[^"]*\/media\/[^"]*"/g, '"…"'),
    headers,
  };
}

const CHANGING = /^(x-request-id|ratelimit|server-timing|etag|content-length)$/;

/** What only its owner can know. */
function isTelling(id: string): boolean {
  return id !== "private";
}

let another: World | undefined;

/** An account that has nothing by the owner's names. */
async function empty(): Promise<World> {
  another ??= { client: await newClient(), ids: stranger.ids };
  return another;
}

async function mediaToken(): Promise<Client> {
  const { client, ids } = owner;
  const { media_url } = await client.json("GET", `/index/private/image/${ids.image_id[0]}`);
  return new Client(new URL(media_url).pathname.split("/")[2]!);
}
