import { beforeAll, describe, expect, it } from "vitest";
import { type Call, Client, clientOf, type Issue, newClient } from "../support/client.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "a" } });
});

const issues = (method: string, path: string, call?: Call) => client.issues(method, path, call);
const search = (json: unknown) => issues("POST", "/index/a/search", { json });
const MISSING: Issue[] = [[["body", "query"], "missing"]];

describe("an invalid request returns 422 with the location and type of each issue", () => {
  it.each<[string, unknown, Issue[]]>([
    ["a missing field", {}, MISSING],
    ["null instead of a query", { query: null }, [[["body", "query"], "missing"]]],
    ["a number instead of a string", { query: 7 }, [[["body", "query"], "string_type"]]],
    ["an empty string", { query: "" }, [[["body", "query"], "string_too_short"]]],
    ["a long string", { query: "x".repeat(2001) }, [[["body", "query"], "string_too_long"]]],
    [
      "a string instead of an integer",
      { query: "x", top_k: "3" },
      [[["body", "top_k"], "int_type"]],
    ],
    [
      "a fraction instead of an integer",
      { query: "x", top_k: 1.5 },
      [[["body", "top_k"], "int_type"]],
    ],
    ["a small integer", { query: "x", top_k: 0 }, [[["body", "top_k"], "greater_than_equal"]]],
    ["a large integer", { query: "x", top_k: 501 }, [[["body", "top_k"], "less_than_equal"]]],
    [
      "a string instead of a number",
      { query: "x", top_p: "1" },
      [[["body", "top_p"], "float_type"]],
    ],
    [
      "a string instead of a boolean",
      { query: "x", use_boxes: "yes" },
      [[["body", "use_boxes"], "bool_type"]],
    ],
    [
      "a string instead of a list",
      { query: "x", asset_ids: "a" },
      [[["body", "asset_ids"], "list_type"]],
    ],
    [
      "an invalid list item",
      { query: "x", asset_ids: ["a", "b", 3] },
      [[["body", "asset_ids", 2], "string_type"]],
    ],
    [
      "a long list",
      { query: "x", asset_ids: Array.from({ length: 501 }, () => "a") },
      [[["body", "asset_ids"], "too_long"]],
    ],
    [
      "an unknown mode",
      { query: "x", modes: ["smell"] },
      [[["body", "modes", 0], "literal_error"]],
    ],
    ["an invalid cursor", { query: "x", cursor: "!" }, [[["body", "cursor"], "value_error"]]],
    ["a list instead of an object", [], [[["body"], "dict_type"]]],
  ])("for a search body with %s", async (_, json, expected) => {
    expect(await search(json)).toEqual(expected);
  });

  it("for several issues in path and body at once", async () => {
    const json = { query: 1, top_k: 0, top_p: 2 };
    expect(await issues("POST", "/index/-bad/search", { json })).toEqual([
      [["path", "index_name"], "string_pattern_mismatch"],
      [["body", "query"], "string_type"],
      [["body", "top_k"], "greater_than_equal"],
      [["body", "top_p"], "less_than_equal"],
    ]);
  });

  it.each<[string, string, string, Issue[]]>([
    ["empty", "", "application/json", [[["body"], "missing"]]],
    ["text", "hello", "application/json", [[["body", 0], "json_invalid"]]],
    ["broken JSON", '{"é": tru}', "application/json", [[["body", 7], "json_invalid"]]],
    ["cut-off JSON", '{"query": "x"', "application/json", [[["body", 13], "json_invalid"]]],
    ["of another media type", "query=x", "text/plain", [[["body", 0], "json_invalid"]]],
  ])("for a JSON body that is %s", async (_, body, type, expected) => {
    const headers = { "content-type": type };
    expect(await issues("POST", "/index/a/search", { body, headers })).toEqual(expected);
  });

  it.each<[string, Issue[]]>([
    ["/index?limit=abc", [[["query", "limit"], "int_parsing"]]],
    ["/index?limit=1.5", [[["query", "limit"], "int_parsing"]]],
    ["/index?limit=", [[["query", "limit"], "int_parsing"]]],
    ["/index?limit=0", [[["query", "limit"], "greater_than_equal"]]],
    ["/index?limit=101", [[["query", "limit"], "less_than_equal"]]],
    ["/index?cursor=abc", [[["query", "cursor"], "value_error"]]],
    ["/index/a?state=done", [[["query", "state"], "literal_error"]]],
    ["/index/a/answer", [[["query", "query"], "missing"]]],
    ["/index/a/answer?query=x&markdown=perhaps", [[["query", "markdown"], "bool_parsing"]]],
    ["/index/a/answer?query=x&stream=perhaps", [[["query", "stream"], "bool_parsing"]]],
    ["/index/a/answer_vqa?query=x&top_p=2", [[["query", "top_p"], "less_than_equal"]]],
    [
      "/index/a/answer_vqa?search_term=",
      [
        [["query", "query"], "missing"],
        [["query", "search_term"], "string_too_short"],
      ],
    ],
    [
      "/index/a/vid_1/answer_vqa?query=x&start_time=soon",
      [[["query", "start_time"], "float_parsing"]],
    ],
    [
      "/index/a/vid_1/answer_vqa?query=x&end_time=-2",
      [[["query", "end_time"], "greater_than_equal"]],
    ],
  ])("for the query string of %s", async (path, expected) => {
    expect(await issues("GET", path)).toEqual(expected);
  });

  it.each<[object, Issue[]]>([
    [{ index_name: "" }, [[["body", "index_name"], "string_pattern_mismatch"]]],
    [{ index_name: "ü" }, [[["body", "index_name"], "string_pattern_mismatch"]]],
    [{ index_name: "x".repeat(65) }, [[["body", "index_name"], "string_pattern_mismatch"]]],
    [{ metadata: [] }, [[["body", "metadata"], "dict_type"]]],
    [
      { settings: { traverse_every_hours: 0 } },
      [[["body", "settings", "traverse_every_hours"], "greater_than_equal"]],
    ],
    [
      { settings: { webhook_url: "http://a.example" } },
      [[["body", "settings", "webhook_url"], "url_parsing"]],
    ],
  ])("for a new index with %j", async (json, expected) => {
    expect(await issues("POST", "/index", { json })).toEqual(expected);
  });
});

describe("an error other than 422 has a sentence as detail", () => {
  it.each<[string, string, Call, number]>([
    ["GET", "/nowhere", {}, 404],
    ["GET", "/index/none", {}, 404],
    ["GET", "/index/a/video/vid_none", {}, 404],
    ["GET", "/index/a/video/vid_none/metadata", {}, 404],
    ["DELETE", "/index/a/image/img_none", {}, 404],
    ["GET", "/jobs/job_none", {}, 404],
    ["POST", "/index/a/search", { json: { query: "x", asset_ids: ["vid_none"] } }, 404],
    ["POST", "/index", { json: { index_name: "a" } }, 409],
    ["POST", "/index", { json: { description: "x".repeat(2 ** 20) } }, 413],
    ["PUT", "/index", {}, 405],
    ["DELETE", "/health", {}, 405],
  ])("for %s %s", async (method, path, call, status) => {
    const response = await client.send(method, path, call);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ detail: expect.stringMatching(/^[A-Z].*[.]$/) });
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(response.headers.get("x-request-id")).toBeTruthy();
    if (status === 405) expect(response.headers.get("allow")).toMatch(/[A-Z]/);
  });

  it("that names an unknown asset of a search", async () => {
    const json = { query: "x", asset_ids: ["vid_none"] };
    const response = await client.send("POST", "/index/a/search", { json });
    expect(await response.text()).toContain("vid_none");
  });

  it("and a 405 lists the path's methods in Allow", async () => {
    const response = await client.send("PUT", "/index/a");
    expect(response.headers.get("allow")?.split(", ").toSorted()).toEqual([
      "DELETE",
      "GET",
      "HEAD",
      "OPTIONS",
      "PATCH",
    ]);
  });
});

describe("an API key", () => {
  it.each<[string, () => Promise<Client>]>([
    ["missing", async () => new Client("")],
    ["garbage", async () => new Client("garbage")],
    ["expired", () => clientOf("someone", ["read", "write"], Date.now() - 1000)],
    ["changed", async () => new Client(client.key.slice(0, -5) + "AAAAA")],
  ])("that is %s returns 401 before the body is read", async (_, make) => {
    const body = "not json";
    const response = await (await make()).send("POST", "/index/a/search", { body });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe("ApiKey");
    expect(await response.json()).toEqual({ detail: expect.stringContaining("API key") });
  });

  it("without the scope of the endpoint returns 403", async () => {
    const reader = await newClient(["read"]);
    expect((await reader.send("GET", "/index")).status).toBe(200);
    const response = await reader.send("POST", "/index", { body: "not json" });
    expect(response.status).toBe(403);
    expect(await response.json()).toEqual({ detail: expect.stringContaining('"write"') });
  });
});

describe("every response", () => {
  it("has a request id, which is the inbound one if that is valid", async () => {
    const send = async (id: string) => {
      const response = await client.send("GET", "/health", { headers: { "x-request-id": id } });
      return response.headers.get("x-request-id");
    };
    expect(await send("abc-123")).toBe("abc-123");
    expect(await send("<script>")).toMatch(/^[\w-]{36}$/);
  });

  it("allows any origin (CORS), and a preflight needs no key", async () => {
    const headers = {
      origin: "https://app.example",
      "access-control-request-method": "POST",
      "access-control-request-headers": "x-api-key",
    };
    const preflight = await new Client("").send("OPTIONS", "/index/a/search", { headers });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-headers")).toMatch(/x-api-key/i);
    const refused = await new Client("").send("GET", "/index", { headers });
    expect(refused.status).toBe(401);
    expect(refused.headers.get("access-control-allow-origin")).toBe("*");
  });
});
