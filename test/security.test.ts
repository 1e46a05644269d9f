import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { SCOPES } from "../src/keys.ts";
import { Client, clientOf, fixture, type Json, newClient } from "./client.ts";
import { OPERATIONS } from "./contract.ts";

/** Every operation that needs a key, with an id of the owner's in each place of its path. */
const GUARDED = OPERATIONS.flatMap(({ method, path, operation }) => {
  const scope = operation.security?.[0]?.ApiKey[0];
  return scope === undefined ? [] : [{ method: method.toUpperCase(), path, scope }];
});

let owner: Client;
let stranger: Client;
let image: Json;
let ids: Record<string, string>;

beforeAll(async () => {
  [owner, stranger] = await Promise.all([newClient(), newClient()]);
  await owner.json("POST", "/index", { json: { index_name: "private" } });
  const form = { image_file: await fixture("words.jpg") };
  image = await owner.json("POST", "/index/private/image", { form });
  await owner.settled("private", image);
  const { asset_id, job_id } = image;
  const { key_id } = await owner.json("POST", "/keys", { json: { name: "another" } });
  ids = { index_name: "private", video_id: asset_id, image_id: asset_id, job_id, key_id };
}, 60_000);

const fill = (path: string, values = ids) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "x");

async function withoutNames(response: Response): Promise<string> {
  return (await response.text()).replaceAll(/"(private|nothing|\w{3}_\w+)\\"/g, '"…"');
}

it("every operation but the health check needs a key", () => {
  expect(OPERATIONS.length - GUARDED.length).toBe(1);
  expect(GUARDED.length).toBeGreaterThan(15);
});

describe.each(GUARDED)("$method $path", ({ method, path, scope }) => {
  it("is 401 without a key", async () => {
    expect((await new Client("").send(method, fill(path))).status).toBe(401);
  });

  it("is 401 with a media token", async () => {
    const token = new URL(image.media_url).pathname.split("/")[2]!;
    expect((await new Client(token).send(method, fill(path))).status).toBe(401);
  });

  it("is 403 without its scope", async () => {
    const others = SCOPES.filter((other) => other !== scope);
    const limited = await clientOf("limited", others);
    expect((await limited.send(method, fill(path))).status).toBe(403);
  });
});

const NAMING = GUARDED.filter(({ path }) => path.includes("{"));

describe.each(NAMING)("$method $path", ({ method, path }) => {
  it("is 404 to another account, as if nothing were there", async () => {
    const url = `${fill(path)}?query=lantern`;
    const call = { json: { query: "lantern" } };
    const needsBody = ["POST", "PATCH"].includes(method) ? call : {};
    const real = await stranger.send(method, url, needsBody);
    expect(real.status).toBe(404);
    const nothing = {
      index_name: "nothing",
      video_id: "vid_0",
      image_id: "img_0",
      job_id: "job_0",
      key_id: "key_0",
    };
    const made = await stranger.send(method, `${fill(path, nothing)}?query=lantern`, needsBody);
    expect(await withoutNames(real)).toBe(await withoutNames(made));
  });
});

describe("two accounts with an index of the same name", () => {
  beforeAll(() => stranger.json("POST", "/index", { json: { index_name: "private" } }));

  it("see their own", async () => {
    expect((await stranger.json("GET", "/index/private")).total).toBe(0);
    expect((await owner.json("GET", "/index/private")).total).toBe(1);
    const json = { query: "lantern" };
    const { segments } = await stranger.json("POST", "/index/private/search", { json });
    expect(segments).toEqual([]);
    expect((await stranger.json("GET", "/stats")).images).toBe(0);
    expect((await stranger.json("GET", "/jobs")).jobs).toEqual([]);
  });

  it("can't name each other's assets", async () => {
    const json = { query: "lantern", asset_ids: [image.asset_id] };
    expect((await stranger.send("POST", "/index/private/search", { json })).status).toBe(404);
    const path = `/index/private/image/${image.asset_id}`;
    for (const method of ["GET", "DELETE"]) {
      expect((await stranger.send(method, path)).status).toBe(404);
    }
  });

  it("each may upload the same bytes", async () => {
    const form = { image_file: await fixture("words.jpg") };
    const own = await stranger.json("POST", "/index/private/image", { form });
    expect(own).toMatchObject({ duplicate: false });
    expect(own.asset_id).not.toBe(image.asset_id);
    await stranger.settled("private", own);
  });
});

it("a revoked key is refused once the isolate looks again", async () => {
  const client = await newClient();
  const claims = JSON.parse(
    atob(client.key.split(".")[1]!.replaceAll("-", "+").replaceAll("_", "/")),
  );
  const now = Date.now();
  await env.DB.batch([
    env.DB.prepare("INSERT INTO accounts (account_id, name, created_at) VALUES (?, 'x', ?)").bind(
      claims.sub,
      now,
    ),
    env.DB.prepare(
      "INSERT INTO api_keys (key_id, account_id, scopes, created_at, revoked_at) VALUES (?, ?, 'read', ?, ?)",
    ).bind(claims.jti, claims.sub, now, now),
  ]);
  expect((await client.send("GET", "/index")).status).toBe(401);
});
