import { beforeAll, describe, expect, it } from "vitest";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";

const QUERY = "lantern boat clock";

let client: Client;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "paged" } });
  const names = ["words.jpg", "boats.jpg", "clock.jpg", "shot.png"];
  const added = names.map(async (name) => {
    const form = { image_file: await fixture(name) };
    return client.waitForAsset("paged", await client.json("POST", "/index/paged/image", { form }));
  });
  await Promise.all(added);
});

const search = (json: object): Promise<Json> =>
  client.json("POST", "/index/paged/search", { json: { query: QUERY, collapse: false, ...json } });

describe("the next page of a search", () => {
  it("begins with the next hit if a hit of the page before was deleted", async () => {
    const { segments: all } = await search({});
    expect(all).toHaveLength(4);
    const page = await search({ top_k: 2 });
    const ids = (segments: Json[]) => segments.map(({ segment_id }) => segment_id);
    expect(ids(page.segments)).toEqual(ids(all.slice(0, 2)));
    await client.json("DELETE", `/index/paged/image/${page.segments[0].image_id}`);
    const next = await search({ top_k: 2, cursor: page.next_cursor });
    expect(ids(next.segments)).toEqual(ids(all.slice(2)));
    expect(next.segments.map(({ rank }: Json) => rank)).toEqual([3, 4]);
  });

  it("is refused with words for a cursor of the format of before, an offset", async () => {
    const cursor = Buffer.from("at:2:1764000000000:0123456789abcdef").toString("base64url");
    const json = { query: QUERY, cursor };
    const response = await client.send("POST", "/index/paged/search", { json });
    expect(response.status).toBe(422);
    const { detail } = await response.json<Json>();
    expect(detail).toEqual([
      {
        loc: ["body", "cursor"],
        type: "value_error",
        msg: expect.stringContaining("The cursor is invalid: pass the next_cursor"),
      },
    ]);
  });
});
