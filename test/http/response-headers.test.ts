import { createExecutionContext } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { app } from "../../src/app.ts";
import { type Client, clientOf, newClient } from "../support/client.ts";
import { OPERATIONS } from "../support/contract.ts";

const ORIGIN = "https://sightline.test";

const DEFAULT_HEADERS = {
  "access-control-allow-origin": "*",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": expect.stringContaining("camera=()"),
  "referrer-policy": "no-referrer",
  "strict-transport-security": "max-age=31536000",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

let client: Client;
let reader: Client;

beforeAll(async () => {
  client = await newClient();
  reader = await clientOf("readers", ["read"]);
  await client.json("POST", "/index", { json: { index_name: "a" } });
});

/** Requires the default headers, and that only the client may cache the response. */
function requireHeaders(response: Response, id: string): number {
  const headers = Object.fromEntries(response.headers);
  expect(headers).toMatchObject({ ...DEFAULT_HEADERS, "x-request-id": id });
  expect(headers["cache-control"]).toMatch(/^(private, )?no-(store|cache)$/);
  expect(headers["access-control-allow-credentials"]).toBeUndefined();
  expect(headers["set-cookie"]).toBeUndefined();
  expect(headers["server"]).toBeUndefined();
  expect(headers["x-powered-by"]).toBeUndefined();
  if (response.status !== 304 && response.status !== 204) {
    expect(headers["content-type"]).toMatch(
      /^(application\/json|text\/event-stream); charset=utf-8$/,
    );
  }
  return response.status;
}

/** A database whose every call throws. */
const failingDb = new Proxy(env.DB, {
  get: () => () => {
    throw new Error("D1_ERROR: gone");
  },
});

describe.each(OPERATIONS.map(({ method, path }) => ({ method: method.toUpperCase(), path })))(
  "$method $path",
  ({ method, path }) => {
    const fill = (value: string) =>
      path.replaceAll("{index_name}", value).replaceAll(/\{\w+\}/g, "x");

    async function send(headers: Record<string, string>, url = fill("a"), as = method) {
      const id = crypto.randomUUID();
      const withId = { "x-request-id": id, ...headers };
      const request = new Request(new URL(url, ORIGIN), { method: as, headers: withId });
      const response = await exports.default.fetch(request);
      const status = requireHeaders(response, id);
      await response.body?.cancel();
      return status;
    }

    it("sends the default headers with every status", async () => {
      const key = { "x-api-key": client.key };
      const isOpen = path === "/health";
      expect(await send({})).toBe(isOpen ? 200 : 401);
      expect(await send({ "x-api-key": "x" })).toBe(isOpen ? 200 : 401);
      const expected = [200, 403, 404, 415, 422];
      expect(expected).toContain(await send({ "x-api-key": reader.key }));
      for (const url of [fill("b"), `${fill(" ")}?limit=x&top_k=x`]) {
        expect(expected).toContain(await send(key, url));
      }
      expect(await send(key, fill("a"), "PUT")).toBe(405);
      expect(await send(key, `${fill("a")}/no/such/place`)).toBe(404);
      const preflight = { origin: "https://a.example", "access-control-request-method": method };
      expect(await send(preflight, fill("a"), "OPTIONS")).toBe(204);
    });

    it("sends the default headers with 500, and no details of the failure", async () => {
      const { key } = await newClient();
      const id = crypto.randomUUID();
      const request = new Request(new URL(fill("a"), ORIGIN), {
        method,
        headers: { "x-api-key": key, "x-request-id": id },
      });
      const response = await app.fetch(
        request,
        { ...env, DB: failingDb },
        createExecutionContext(),
      );
      expect(requireHeaders(response, id)).toBe(500);
      expect(await response.text()).not.toContain("D1");
    });
  },
);

it("a response over plain HTTP has no Strict-Transport-Security", async () => {
  const response = await exports.default.fetch(new Request("http://sightline.test/health"));
  expect(response.headers.get("strict-transport-security")).toBeNull();
});

it("the OpenAPI document has the default headers", async () => {
  const id = crypto.randomUUID();
  const headers = { "x-request-id": id };
  requireHeaders(await exports.default.fetch(`${ORIGIN}/openapi.json`, { headers }), id);
});

describe("text from clients", () => {
  const invalidIds = ["é", "a b", "a;b", "<b>", "x".repeat(65), "", "%0d%0aa:b", "\u00ff"];

  it.each(invalidIds)("isn't used as the request id if it is invalid: %j", async (id) => {
    const response = await client.send("GET", "/health", { headers: { "x-request-id": id } });
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });

  const LINES = "a\r\nSet-Cookie: stolen=1\r\n\r\n<script>é電\u0085\u2028b";

  it("isn't reflected in any response header", async () => {
    const path = "/index/a";
    const metadata = { [LINES]: LINES };
    await client.json("PATCH", path, { json: { description: LINES, metadata } });
    const encoded = encodeURIComponent(LINES);
    const responses = await Promise.all([
      client.send("GET", path),
      client.send("GET", `/index/${encoded}`),
      client.send("GET", `/${encoded}`),
      client.send("PUT", `/index/${encoded}`),
      client.send("GET", `/jobs/${encoded}`),
      client.send("GET", `/media/${encoded}/${encoded}`),
      client.send("GET", `/index?cursor=${encoded}`),
      client.send("POST", "/index", { json: { index_name: LINES } }),
      client.send("POST", path.concat("/search"), { json: { query: LINES } }),
      client.send("GET", `${path}/answer?query=${encoded}`),
    ]);
    for (const { headers } of responses) {
      expect(headers.get("set-cookie")).toBeNull();
      for (const [, value] of headers) {
        expect(value).toMatch(/^[\x20-\x7e]*$/);
        expect(value).not.toMatch(/stolen|script/);
      }
    }
  });
});
