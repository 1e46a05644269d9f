import { beforeAll, describe, expect, it } from "vitest";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";

const CURSOR_MESSAGE =
  "The cursor is invalid: pass the next_cursor of the previous page, " +
  "with the same query and filters";

let client: Client;

beforeAll(async () => {
  client = await newClient();
  for (const name of ["a", "b", "c"]) {
    await client.json("POST", "/index", { json: { index_name: name } });
  }
  for (const name of ["words.jpg", "boats.jpg", "clock.jpg"]) {
    await client.json("POST", "/index/a/image", { form: { image_file: await fixture(name) } });
  }
});

/** Sends a request that breaks rules and returns its issues. */
async function issues(...[method, path, init]: Parameters<Client["send"]>): Promise<Json[]> {
  const response = await client.send(method, path, init);
  expect(response.status).toBe(422);
  return (await response.json<Json>()).detail;
}

const locations = (found: Json[]) =>
  found.map(({ loc }) => String(loc.join("."))).toSorted((a, b) => (a < b ? -1 : 1));

describe("all broken rules of a request are told at once", () => {
  it("the URL guard, JSON and the transcript of a new video", async () => {
    const path = `/index/a/video?video_url=${encodeURIComponent("http://127.0.0.1/x.mp4")}`;
    const form = { metadata_str: "[1]", transcript: new File(["[{}]"], "t.json") };
    const found = await issues("POST", path, { form });
    expect(locations(found)).toEqual(["body.metadata_str", "body.transcript", "query.video_url"]);
  });

  it("a file beside a URL, and JSON", async () => {
    const path = `/index/a/image?image_url=${encodeURIComponent("https://example.com/x.jpg")}`;
    const form = { metadata_str: "{", image_file: await fixture("words.jpg") };
    const found = await issues("POST", path, { form });
    expect(locations(found)).toEqual(["body.image_file", "body.metadata_str"]);
  });

  it("a private webhook and a field of the wrong type", async () => {
    const settings = { webhook_url: "https://10.0.0.1/hook" };
    const found = await issues("POST", "/index", { json: { description: 7, settings } });
    expect(locations(found)).toEqual(["body.description", "body.settings.webhook_url"]);
  });

  it("malformed JSON and a malformed query", async () => {
    const found = await issues("POST", "/index?index_name=%20", { body: "{", headers: {} });
    expect(locations(found)).toEqual(["body.1", "query.index_name"]);
  });
});

describe("null for an optional field", () => {
  it("is the same as leaving it out of a JSON body", async () => {
    const json = { query: "boat", top_k: null, modes: null, filter: null, cursor: null };
    const { segments } = await client.json("POST", "/index/a/search", { json });
    expect(segments).toEqual([]);
  });

  it("is the same as leaving it out of a nested object", async () => {
    const settings = { language: null, webhook_url: null, traverse_every_hours: null };
    const json = { index_name: "nulls", description: null, settings };
    const record = await client.json("POST", "/index", { json });
    expect(record).toMatchObject({ description: "", settings: { traverse_every_hours: null } });
    expect(record.settings).not.toHaveProperty("language");
  });

  it("is the same as leaving it out of a form's JSON", async () => {
    const form = { metadata_str: "null", image_file: await fixture("clock.jpg") };
    const record = await client.json("POST", "/index/c/image", { form });
    expect(record.metadata).toEqual({});
  });

  it("is an issue for a required field", async () => {
    const found = await issues("POST", "/keys", { json: { name: null } });
    expect(found).toMatchObject([{ loc: ["body", "name"], type: "string_type" }]);
  });

  it("stays a value where null has a meaning", async () => {
    const json = { query: "boat", filter: { camera: { $eq: null } } };
    expect((await client.send("POST", "/index/a/search", { json })).status).toBe(200);
  });
});

describe("the language of an index", () => {
  it.each(["en", "pt-BR", "zh-Hans-CN", "de-1996", "gsw"])("may be %s", async (language) => {
    const record = await client.json("POST", "/index", { json: { settings: { language } } });
    expect(record.settings).toEqual({ language });
  });

  it.each([
    ["english", "string_pattern_mismatch"],
    ["english please", "string_pattern_mismatch"],
    ["e", "string_pattern_mismatch"],
    ["en-a", "value_error"],
    [`en${"-abcd".repeat(7)}`, "value_error"],
  ])("can't be %s", async (language, type) => {
    const found = await issues("POST", "/index", { json: { settings: { language } } });
    expect(found).toMatchObject([{ loc: ["body", "settings", "language"], type }]);
  });
});

describe("a JSON body without its content type", () => {
  const headers = { "content-type": "application/x-www-form-urlencoded" };

  it("is read as JSON", async () => {
    const body = JSON.stringify({ index_name: "by-curl" });
    const response = await client.send("POST", "/index", { body, headers });
    expect(await response.json()).toMatchObject({ index_name: "by-curl" });
  });

  it("that isn't JSON is told the header to send", async () => {
    const found = await issues("POST", "/index", { body: "index_name=x", headers });
    expect(found).toEqual([
      {
        loc: ["body", 0],
        type: "json_invalid",
        msg:
          "JSON decode error at byte 0: it is not JSON. " +
          "Send a JSON object, with the header Content-Type: application/json",
      },
    ]);
  });

  it("that isn't an object is told the header to send", async () => {
    const found = await issues("POST", "/index", { body: "[1]", headers });
    expect(found).toMatchObject([{ loc: ["body"], type: "dict_type" }]);
    expect(found[0]!.msg).toContain("Content-Type: application/json");
  });
});

describe("a value at another place", () => {
  it("a URL in the form adds the asset", async () => {
    const form = { image_url: "https://example.com/photo.jpg" };
    const record = await client.json("POST", "/index/b/image", { form });
    expect(record).toMatchObject({ state: "queued", source: { kind: "url", url: form.image_url } });
  });

  it("a URL in the form and in the query is an issue", async () => {
    const form = { image_url: "https://example.com/photo.jpg" };
    const path = `/index/b/image?image_url=${encodeURIComponent(form.image_url)}`;
    expect(locations(await issues("POST", path, { form }))).toEqual(["body.image_file"]);
  });

  it("a private URL in the form is an issue", async () => {
    const form = { image_url: "http://10.0.0.1/photo.jpg" };
    const found = await issues("POST", "/index/b/image", { form });
    expect(locations(found)).toEqual(["body.image_url"]);
  });

  it("a part of the form in the query string is told where it belongs", async () => {
    const form = { image_file: await fixture("boats.jpg") };
    const found = await issues("POST", "/index/b/image?metadata_str={}", { form });
    const msg = "Send metadata_str as a part of the form";
    expect(found).toEqual([{ loc: ["query", "metadata_str"], type: "value_error", msg }]);
  });

  it("a parameter of the query in the form is told where it belongs", async () => {
    const form = { image_file: await fixture("boats.jpg"), top_k: "3" };
    const found = await issues("POST", "/index/b/search_image", { form });
    const msg = "Send top_k in the query string";
    expect(found).toEqual([{ loc: ["body", "top_k"], type: "value_error", msg }]);
  });
});

it.each([
  ["GET", "/index?limit=1&limit=2", "limit"],
  ["GET", "/index/a/answer?query=a&query=b", "query"],
  ["POST", "/index/a/search_image?top_k=1&top_k=1", "top_k"],
])("%s %s is told that the parameter is given twice", async (method, path, name) => {
  const found = await issues(method, path, method === "POST" ? { form: {} } : undefined);
  const msg = `${name} is given 2 times: give it once`;
  expect(found).toContainEqual({ loc: ["query", name], type: "value_error", msg });
});

describe("a path with a trailing slash", () => {
  it.each([
    ["GET", "/index/"],
    ["GET", "/index/a/"],
    ["GET", "/index/a/images/?limit=1"],
    ["GET", "/stats/"],
    ["GET", "/health/"],
    ["GET", "/openapi.json/"],
    ["GET", "/index/a/traverse/"],
  ])("is the same path: %s %s", async (method, path) => {
    expect((await client.send(method, path)).status).toBe(200);
  });

  it("is the same path for resumable uploads", async () => {
    const headers = { "tus-resumable": "1.0.0", "upload-length": "10" };
    const response = await client.send("POST", "/index/a/uploads/", { headers });
    expect(response.status).toBe(201);
    expect(response.headers.get("tus-resumable")).toBe("1.0.0");
  });
});

it.each([
  ["DELETE", "/index", "POST, GET, HEAD, OPTIONS"],
  ["GET", "/init", "POST, OPTIONS"],
])("%s %s is refused with all methods of the path", async (method, path, allow) => {
  const response = await client.send(method, path);
  expect(response.status).toBe(405);
  expect(new Set(response.headers.get("allow")!.split(", "))).toEqual(new Set(allow.split(", ")));
});

describe("a cursor of a list", () => {
  async function firstCursor(path: string): Promise<string> {
    const { next_cursor } = await client.json("GET", path);
    expect(next_cursor).toEqual(expect.any(String));
    return encodeURIComponent(next_cursor);
  }

  it("continues the list, also with another limit and a trailing slash", async () => {
    const cursor = await firstCursor("/index/a/images?limit=1");
    const page = await client.json("GET", `/index/a/images/?limit=100&cursor=${cursor}`);
    expect(page.images).toHaveLength(2);
  });

  it.each([
    ["another list", "/index/a/images?limit=1", "/index?"],
    ["another index", "/index/a/images?limit=1", "/index/b/images?"],
    ["another filter", "/index/a?limit=1&type=image", "/index/a?type=video&"],
    ["no filter", "/index/a?limit=1&type=image", "/index/a?"],
    ["a traversal", "/index/a?limit=1", "/index/a/traverse?"],
  ])("is an issue with %s", async (_, from, to) => {
    const found = await issues("GET", `${to}cursor=${await firstCursor(from)}`);
    expect(found).toEqual([{ loc: ["query", "cursor"], type: "value_error", msg: CURSOR_MESSAGE }]);
  });
});
