import { env } from "cloudflare:workers";
import { base64url } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { fingerprint } from "../../src/fingerprint.ts";
import { type AccountId, eventId, type IndexId, newId } from "../../src/ids.ts";
import { requireIndex } from "../../src/store/d1/indices.ts";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";
import { OPERATIONS } from "../support/contract.ts";

/** An account with an index of the same name as the other's. */
interface Owner {
  client: Client;
  accountId: AccountId;
  indexId: IndexId;
}

/** Lists of an account or of an index. */
const LISTS = OPERATIONS.filter(
  ({ path, parameters }) =>
    !path.replace("{index_name}", "").includes("{") &&
    parameters.some(({ name, in: location }) => name === "cursor" && location === "query"),
);
const INVALID = [[["query", "cursor"], "value_error"]];

let owner: Owner;
let stranger: Owner;

async function addImages(client: Client, index: string): Promise<void> {
  const add = async (name: string) => {
    const form = { image_file: await fixture(name) };
    const asset = await client.json("POST", `/index/${index}/image`, { form });
    await client.waitForAsset(index, asset);
  };
  await Promise.all(["words.jpg", "boats.jpg"].map(add));
}

async function newOwner(): Promise<Owner> {
  const client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "same" } });
  await addImages(client, "same");
  const { account_id: accountId } = await client.json("POST", "/init");
  const { indexId } = await requireIndex(env.DB, accountId, "same");
  return { client, accountId, indexId };
}

beforeAll(async () => {
  [owner, stranger] = await Promise.all([newOwner(), newOwner()]);
});

describe.each(LISTS)("a cursor of $method $path", ({ method, path }) => {
  const isIndexed = path.includes("{index_name}");
  const list = path.replace("{index_name}", "same");
  const cursorOf = ({ accountId, indexId }: Owner) => {
    const position = path.endsWith("/deliveries") ? eventId(indexId, 1) : newId("vid");
    return `${base64url.encode(position)}.${fingerprint([isIndexed ? indexId : accountId, list])}`;
  };
  it("is taken from its own account", async () => {
    const cursor = cursorOf(owner);
    expect((await owner.client.send(method, `${list}?cursor=${cursor}`)).status).toBe(200);
  });

  it("is refused from another account, with an index of that name", async () => {
    const cursor = cursorOf(stranger);
    expect(await owner.client.issues(method, `${list}?cursor=${cursor}`)).toEqual(INVALID);
  });
});

describe("a cursor of a search", () => {
  it.each([
    ["of an index", "/index/same/search", {}],
    ["of several indices", "/search", { index_names: ["same"] }],
    ["of all indices", "/search", { index_names: ["*"] }],
  ])("%s is refused from another account, with an index of that name", async (_, path, names) => {
    const json = { query: "lantern", top_k: 1, collapse: false, ...names };
    const { next_cursor: cursor } = await owner.client.json("POST", path, { json });
    expect(cursor).not.toBeNull();
    await owner.client.json("POST", path, { json: { ...json, cursor } });
    const issues = await stranger.client.issues("POST", path, { json: { ...json, cursor } });
    expect(issues).toEqual([[["body", "cursor"], "value_error"]]);
  });
});

it("cursors of an index are refused once another index has its name", async () => {
  const client = await newClient();
  const create = () => client.json("POST", "/index", { json: { index_name: "again" } });
  await create();
  await addImages(client, "again");
  const json = { query: "lantern", top_k: 1, collapse: false };
  const across = { ...json, index_names: ["again"] };
  const found = await client.json("POST", "/index/again/search", { json });
  const group: Json = await client.json("POST", "/search", { json: across });
  const list = await client.json("GET", "/index/again?limit=1");
  await client.send("DELETE", "/index/again");
  await create();
  const { next_cursor: cursor } = found;
  expect(await client.issues("GET", `/index/again?cursor=${list.next_cursor}`)).toEqual(INVALID);
  expect(await client.issues("POST", "/index/again/search", { json: { ...json, cursor } })).toEqual(
    [[["body", "cursor"], "value_error"]],
  );
  const next = { ...across, cursor: group.next_cursor };
  expect(await client.issues("POST", "/search", { json: next })).toEqual([
    [["body", "cursor"], "value_error"],
  ]);
});
