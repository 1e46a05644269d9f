import { describe, expect, it } from "vitest";
import { Sightline, SightlineError } from "../../client/src/index.ts";

const ORIGIN = "https://a.example";

/** Returns a client whose service redirects `/index` and `/keys`, and the URLs of its requests. */
function redirectedClient(status: number, location: string | null) {
  const sent: { url: string; key: string | null; body: unknown; redirect: string | undefined }[] =
    [];
  const fetch = (url: string, init: RequestInit) => {
    const key = new Headers(init.headers).get("x-api-key");
    sent.push({ url, key, body: init.body, redirect: init.redirect });
    const isFirst = /\/(index|keys|stats)(\?|$)/.test(url);
    if (!isFirst)
      return Promise.resolve(Response.json({ indices: [], total: 0, next_cursor: null }));
    const headers: HeadersInit = location === null ? {} : { location };
    return Promise.resolve(new Response(null, { status, headers }));
  };
  return { client: new Sightline({ url: ORIGIN, apiKey: "secret", maxRetries: 0, fetch }), sent };
}

const STATUSES = [301, 302, 303, 307, 308];
const ELSEWHERE = [
  "https://evil.example/index",
  "//evil.example/index",
  "http://a.example/index",
  "https://a.example:8443/index",
  "https://a.example.evil.example/",
  "https://a.example@evil.example/",
  "data:application/json,{}",
  "\\\\evil.example/index",
  "https://[",
  null,
];

describe.each(STATUSES)("a redirect with status %i", (status) => {
  it.each(ELSEWHERE)("to %j is an error, and nothing is sent there", async (location) => {
    const { client, sent } = redirectedClient(status, location);
    for (const request of [client.stats(), client.keys.create({ name: "a" })]) {
      const error = await request.catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(SightlineError);
      expect(error).toMatchObject({ code: "redirected", status });
    }
    expect(sent.map(({ url }) => new URL(url).origin)).toEqual([ORIGIN, ORIGIN]);
  });

  it("within the origin is followed by a read", async () => {
    const { client, sent } = redirectedClient(status, "/moved");
    await client.stats();
    expect(sent.map(({ url, key }) => [url, key])).toEqual([
      [`${ORIGIN}/stats`, "secret"],
      [`${ORIGIN}/moved`, "secret"],
    ]);
  });
});

it.each([307, 308])("a redirect within the origin with status %i keeps a body", async (status) => {
  const { client, sent } = redirectedClient(status, "/moved");
  await client.keys.create({ name: "a" });
  expect(sent.map(({ body }) => body)).toEqual(['{"name":"a"}', '{"name":"a"}']);
});

it.each([301, 302, 303])("a redirect with status %i isn't followed by a change", async (status) => {
  const { client } = redirectedClient(status, "/moved");
  await expect(client.keys.create({ name: "a" })).rejects.toMatchObject({ code: "redirected" });
});

it("endless redirects end after five", async () => {
  const { client, sent } = redirectedClient(302, "/stats");
  await expect(client.stats()).rejects.toMatchObject({ code: "redirected" });
  expect(sent).toHaveLength(6);
});

it("no request leaves redirects to fetch", async () => {
  const { client, sent } = redirectedClient(200, null);
  await client.stats().catch(() => undefined);
  expect(sent.map(({ redirect }) => redirect)).toEqual(["manual"]);
});
