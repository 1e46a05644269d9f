import { beforeAll, describe, expect, it } from "vitest";
import { LIMITS } from "../../src/config.ts";
import { type Client, fixture, type Issue, type Json, newClient } from "../support/client.ts";

let client: Client;
let image: string;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "a" } });
  const form = { image_file: await fixture("words.jpg"), metadata_str: '{"stored":true}' };
  const added = await client.json("POST", "/index/a/image", { form });
  image = `/index/a/image/${added.asset_id}`;
  await client.waitForAsset("a", added);
});

const headers = { "content-type": "application/json" };
const jsonBody = (body: BodyInit) => ({ body, headers });
const SEARCH = "/index/a/search";
const brackets = (count: number) => "[".repeat(count) + "]".repeat(count);
/** Returns a JSON text of the given nesting depth. */
const nested = (depth: number) => `{"metadata":{"a":${brackets(depth - 2)}}}`;

/** Stores metadata and returns the issues. Without any, requires that it is returned unchanged. */
async function metadataIssues(text: string, isUnchanged = true): Promise<Issue[]> {
  const response = await client.send("PATCH", image, jsonBody(`{"metadata":${text}}`));
  const body: Json = await response.json();
  if (response.status !== 200) return body.detail.map((one: Json) => [one.loc, one.type]);
  const { metadata } = await client.json("GET", image);
  if (isUnchanged) expect(JSON.stringify(metadata)).toBe(text);
  return [];
}

describe("JSON past the maximum nesting depth returns 422", () => {
  const expectRejected = async (method: string, path: string, body: string, byte: number) =>
    expect(await client.issues(method, path, jsonBody(body))).toEqual([
      [["body", byte], "json_invalid"],
    ]);

  it.each([LIMITS.jsonDepth + 1, 2000, 100_000])("for %i balanced brackets", async (count) => {
    await expectRejected("POST", SEARCH, brackets(count), LIMITS.jsonDepth);
    await expectRejected("PATCH", image, nested(count + 2), 17 + LIMITS.jsonDepth - 2);
    const filter = `{"query":"x","filter":{"a":${brackets(count)}}}`;
    await expectRejected("POST", SEARCH, filter, 27 + LIMITS.jsonDepth - 2);
  });

  it("for 100,000 unbalanced brackets", async () => {
    await expectRejected("POST", SEARCH, "[".repeat(100_000), LIMITS.jsonDepth);
    await expectRejected("POST", SEARCH, '{"a":'.repeat(100_000), 5 * LIMITS.jsonDepth);
    await expectRejected(
      "POST",
      SEARCH,
      `{"a": tru, "b":${"[".repeat(100_000)}`,
      15 + LIMITS.jsonDepth - 1,
    );
  });

  it("for JSON texts in a form or a query string", async () => {
    const image_file = await fixture("words.jpg");
    for (const text of [`{"a":${brackets(50_000)}}`, "[".repeat(100_000)]) {
      const form = { image_file, metadata_str: text };
      expect(await client.issues("POST", "/index/a/image", { form })).toEqual([
        [["body", "metadata_str"], "json_invalid"],
      ]);
    }
    const query = new URLSearchParams({ url: "https://a.example/", metadata: "[".repeat(4000) });
    expect(await client.issues("POST", `/index/a/videonet/url?${query.toString()}`)).toEqual([
      [["query", "metadata"], "json_invalid"],
    ]);
  });

  it.each(["[".repeat(100_000), brackets(100_000)])("for a JSON transcript", async (transcript) => {
    const form = { video_file: await fixture("clip.mp4"), transcript };
    expect(await client.issues("POST", "/index/a/video", { form })).toEqual([
      [["body", "transcript"], "value_error"],
    ]);
  });

  it("but not for brackets in a string", async () => {
    expect(
      await metadataIssues(JSON.stringify({ a: '\\"[[['.repeat(99), b: "{".repeat(99) })),
    ).toEqual([]);
    expect(await metadataIssues(nested(LIMITS.jsonDepth).slice('{"metadata":'.length, -1))).toEqual(
      [],
    );
  });
});

describe("metadata is either stored unchanged or returns 422:", () => {
  const INEXACT = (name: string): Issue[] => [[["body", "metadata", name], "value_error"]];

  it.each<[string, string, Issue[]]>([
    ["names of Object.prototype", '{"__proto__":{"a":1},"constructor":2,"toString":null}', []],
    [
      "numbers",
      '{"a":0.1,"b":-1e-7,"c":9007199254740991,"d":1e+21,"e":1.7976931348623157e+308}',
      [],
    ],
    ["a number past the range of doubles", '{"a":1e400}', INEXACT("a")],
    ["a negative number past the range of doubles", '{"a":-1e400}', INEXACT("a")],
    ["a number with too many digits", '{"a":12345678901234567890}', INEXACT("a")],
    ["a text with characters of all Unicode planes", '{"é":"🐕\u2028\u202e","":"\u007f"}', []],
    ["a NUL", '{"a":"x\\u0000"}', INEXACT("a")],
    ["a NUL in a name", '{"a\\u0000":1}', INEXACT("a\0")],
    ["a lone high surrogate", '{"a":"\\ud800"}', [[["body", "metadata", "a"], "string_unicode"]]],
    ["a lone low surrogate", '{"a":"\\udc00x"}', [[["body", "metadata", "a"], "string_unicode"]]],
  ])("%s", async (_, text, issues) => {
    expect(await metadataIssues(text)).toEqual(issues);
  });

  it("of duplicate names the last one is stored", async () => {
    expect(await metadataIssues('{"a":1,"b":0,"a":2}', false)).toEqual([]);
    expect((await client.json("GET", image)).metadata).toEqual({ a: 2, b: 0 });
  });

  it("the maximum size in bytes is stored, one byte more isn't", async () => {
    const TOO_LARGE: Issue[] = [[["body", "metadata"], "value_error"]];
    const expanding = `{"a":[${Array.from({ length: 20_000 }, () => "1e15").join()}]}`;
    expect(await metadataIssues(expanding)).toEqual(TOO_LARGE);
    const text = (length: number) => JSON.stringify({ a: "x".repeat(length) });
    expect(await metadataIssues(text(LIMITS.metadataBytes - 8))).toEqual([]);
    expect(await metadataIssues(text(LIMITS.metadataBytes - 7))).toEqual(TOO_LARGE);
  });
});

describe("a body with very many invalid values returns at most 1000 issues:", () => {
  const repeat = (count: number, item: string) => Array.from({ length: count }, () => item).join();
  const fields = Array.from({ length: 70_000 }, (_, i) => `"${i}.":[]`).join();

  it.each([
    ["numbers", "PATCH", `{"metadata":{"a":[${repeat(150_000, "9e15")}]}}`, 1],
    ["long numbers", "PATCH", `{"metadata":{"a":[${repeat(3000, "1e16")}]}}`, LIMITS.issueCount],
    ["texts", "PATCH", `{"metadata":{"a":[${repeat(90_000, '"\\u0000"')}]}}`, LIMITS.issueCount],
    ["modes", "POST", `{"query":"x","modes":[${repeat(200_000, '"x"')}]}`, 1],
    ["ids", "POST", `{"query":"x","asset_ids":[${repeat(500, "1")}]}`, 500],
    ["too many ids", "POST", `{"query":"x","asset_ids":[${repeat(200_000, "1")}]}`, 1],
    ["rules", "POST", `{"query":"x","filter":{${fields}}}`, 1],
    ["rules of a field", "POST", `{"query":"x","filter":{"a":{${fields}}}}`, 1],
  ])("%s", async (_, method, body, count) => {
    const path = method === "POST" ? SEARCH : image;
    expect(await client.issues(method, path, jsonBody(body))).toHaveLength(count);
  });
});

describe("bytes that aren't UTF-8", () => {
  const bytes = (...parts: (string | number[])[]) =>
    Buffer.concat(parts.map((part) => Buffer.from(part as string)));

  it.each<[string, Buffer, number]>([
    ["in a string", bytes('{"title":"x', [0xff, 0xfe], '"}'), 11],
    ["after a real U+FFFD", bytes('{"title":"\uFFFD', [0xc3], '"}'), 13],
    ["of an incomplete sequence", bytes('{"title":"', [0xf0, 0x9f, 0x90], '"}'), 10],
    ["of an encoded surrogate", bytes('{"title":"', [0xed, 0xa0, 0x80], '"}'), 10],
    ["after the JSON", bytes('{"title":"x"}', [0x80]), 13],
  ])("%s return 422 with their offset", async (_, body, byte) => {
    expect(await client.issues("PATCH", image, jsonBody(body))).toEqual([
      [["body", byte], "json_invalid"],
    ]);
  });

  it("don't include a byte order mark, which is skipped, and U+FFFD", async () => {
    const body = bytes([0xef, 0xbb, 0xbf], '{"title":"\uFFFD"}');
    expect(await client.json("PATCH", image, jsonBody(body))).toMatchObject({ title: "\uFFFD" });
  });

  it.each([
    ["/index/%ff", 422],
    ["/index/a/image/%ff", 404],
    ["/index/a/image/%E0%A4%A", 404],
    ["/index/a/image/%00", 422],
    ["/index/a/image/x%00y", 422],
    ["/jobs/%ed%a0%80", 404],
    ["/index?cursor=%ff", 422],
    ["/index?limit=%c3", 422],
    ["/index/a/answer?query=%ff%00", 200],
    ["/index/a/answer?query=a%00", 200],
    ["/index/a/answer?query=a&language=a%00", 422],
    ["/%ff", 404],
    ["/media/%ff/%00", 404],
  ])("in the URL %s return %i", async (path, status) => {
    expect((await client.send("GET", path)).status).toBe(status);
  });
});

describe("a very long request", () => {
  const long = "x".repeat(300_000);

  it.each([
    [`/index/${long}`, 422],
    [`/index/a/image/${long}`, 404],
    [`/jobs/${long}`, 404],
    [`/index?cursor=${long}`, 422],
    [`/index/a/answer?query=${long}`, 422],
    [`/index/a/answer?query=x&asset_ids=${long}`, 404],
    [`/index/a/answer?query=x${"&asset_ids=a".repeat(5000)}`, 422],
    [`/index?${"a=b&".repeat(20_000)}limit=1`, 200],
    [`/media/${long}/x`, 404],
    [`/${long}`, 404],
    [`/${"x/".repeat(20_000)}`, 404],
  ])("URL %# returns its expected status", async (path, status) => {
    expect((await client.send("GET", path)).status).toBe(status);
  });

  it("body of more than a megabyte returns 413", async () => {
    const response = await client.send("POST", SEARCH, jsonBody(" ".repeat(LIMITS.jsonBytes + 1)));
    expect(response.status).toBe(413);
  });
});

describe("a file name that is truncated within a surrogate pair", () => {
  it("results in a well-formed title and a working media URL", async () => {
    const file = await fixture("boats.jpg");
    const name = `${"x".repeat(299)}🐕.jpg`;
    const form = { image_file: new File([file], name) };
    const added = await client.json("POST", "/index/a/image", { form });
    const { title, media_url } = await client.waitForAsset("a", added);
    expect(title.isWellFormed()).toBe(true);
    expect((await fetchMedia(media_url)).status).toBe(200);
    expect((await client.send("GET", "/index/a")).status).toBe(200);
  });

  const fetchMedia = (url: string) => client.send("GET", new URL(url).pathname);
});
