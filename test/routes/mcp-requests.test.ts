import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { LIMITS } from "../../src/config.ts";
import { Client, clientOf, newClient } from "../support/client.ts";
import { newRevokedKey, spliceSignature } from "../support/invalid-keys.ts";
import { messageOf, post, rpc } from "../support/mcp-client.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

describe("a message of the Model Context Protocol", () => {
  const PING = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "ping" });

  it("with the method ping returns an empty result", async () => {
    expect(await rpc(client, { id: 7, method: "ping" })).toEqual({
      status: 200,
      message: { jsonrpc: "2.0", id: 7, result: {} },
    });
  });

  it("without an id is a notification and returns 202 without a message", async () => {
    const sent = await rpc(client, { method: "notifications/initialized" });
    expect(sent).toEqual({ status: 202, message: null });
  });

  it.each([
    ["is empty", "", -32_700],
    ["is cut off", '{"jsonrpc": "2.0",', -32_700],
    ["nests too deep", "[".repeat(5000) + "]".repeat(5000), -32_700],
    ["is a batch", `[${PING},${PING}]`, -32_600],
    ["isn't an object", '"hello"', -32_600],
    ["has no method", '{"jsonrpc": "2.0", "id": 1}', -32_600],
  ])("that %s returns a JSON-RPC error", async (_, body, code) => {
    const response = await post(client, { body });
    expect(response.status).toBe(400);
    expect(await messageOf(response)).toMatchObject({ jsonrpc: "2.0", error: { code }, id: null });
  });

  it("of an unknown protocol revision returns 400 with the supported revisions", async () => {
    const headers = { "mcp-protocol-version": "1999-01-01" };
    const { status, message } = await rpc(client, { id: 1, method: "ping" }, headers);
    expect(status).toBe(400);
    expect(JSON.stringify(message.error)).toContain("2025-11-25");
    const params = { protocolVersion: "1999-01-01", capabilities: {}, clientInfo: INFO };
    const initialized = await rpc(client, { id: 1, method: "initialize", params });
    expect(initialized.message.result.protocolVersion).toBe("2025-11-25");
  });

  it("that is too large returns 413", async () => {
    const response = await post(client, { body: " ".repeat(LIMITS.jsonBytes + 1) });
    expect(response.status).toBe(413);
  });

  it("of another media type returns 415, and one that accepts only HTML 406", async () => {
    const plain = { "content-type": "text/plain" };
    expect((await post(client, { body: PING, headers: plain })).status).toBe(415);
    const html = { accept: "text/html" };
    expect((await post(client, { body: PING, headers: html })).status).toBe(406);
  });

  it.each(["GET", "DELETE", "PUT", "HEAD"])(
    "sent with %s returns 405, because there are no sessions",
    async (method) => {
      const response = await post(client, { body: "", method });
      expect(response.status).toBe(405);
      expect(response.headers.get("allow")).toBe("POST, OPTIONS");
    },
  );

  it("gets a response with the API's default headers", async () => {
    const response = await post(client, { body: PING });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "cache-control": "private, no-store",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "x-request-id": expect.stringMatching(/./),
    });
    await response.body?.cancel();
  });

  it("may come from any origin (CORS), but needs a key", async () => {
    const headers = {
      origin: "https://inspector.example",
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization, mcp-protocol-version",
    };
    const preflight = await post(client, { body: "", method: "OPTIONS", headers });
    expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
    const allowed = preflight.headers.get("access-control-allow-headers")!.toLowerCase();
    expect(allowed).toContain("authorization");
    expect(allowed).toContain("mcp-protocol-version");
    const { origin } = headers;
    const { status } = await rpc(new Client(""), { id: 1, method: "ping" }, { origin });
    expect(status).toBe(401);
  });

  it("that subscribes to notifications gets a stream that ends at once", async () => {
    const params = {
      notifications: { toolsListChanged: true },
      _meta: META,
    };
    const headers = {
      "mcp-protocol-version": META["io.modelcontextprotocol/protocolVersion"],
      "mcp-method": "subscriptions/listen",
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params });
    const response = await post(client, { body, headers });
    expect(await response.text()).toContain('"complete"');
  });

  const INFO = { name: "test", version: "1" };
  const META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": INFO,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
});

describe("an API key for MCP", () => {
  const LIST = { id: 1, method: "tools/list" };

  it("that is missing or invalid returns 401 before the body is read", async () => {
    const stranger = await newClient();
    for (const [invalid, headers] of [
      [new Client(""), {}],
      [new Client("garbage"), {}],
      [spliceSignature(client, stranger), {}],
      [await newRevokedKey(), {}],
      [await clientOf("someone", ["read"], Date.now() - 1000), {}],
      [new Client(""), { authorization: "Bearer garbage" }],
      [new Client(""), { authorization: `Basic ${client.key}` }],
      [new Client("garbage"), { authorization: `Bearer ${client.key}` }],
    ] as const) {
      const response = await post(invalid, { body: "no JSON", headers });
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe("Bearer, ApiKey");
      expect(await response.json()).toMatchObject({ detail: expect.stringContaining("API key") });
    }
  });

  it("may be sent as a bearer token, unlike to other endpoints", async () => {
    const headers = { authorization: `Bearer ${client.key}` };
    const { status, message } = await rpc(new Client(""), LIST, headers);
    expect(status).toBe(200);
    expect(message.result.tools).not.toHaveLength(0);
    expect((await new Client("").send("GET", "/index", { headers })).status).toBe(401);
  });

  it("needs the scope read", async () => {
    const writer = await clientOf("writer", ["write", "admin"]);
    expect((await rpc(writer, LIST)).status).toBe(403);
    const reader = await clientOf("reader", ["read"]);
    expect((await rpc(reader, LIST)).status).toBe(200);
  });

  it("counts one request towards the rate limit per tool call", async () => {
    const account = await newClient();
    const keyRate = Number(env.KEY_RATE);
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "list_indices", arguments: {} },
    });
    for (const remaining of [keyRate - 1, keyRate - 2]) {
      const response = await post(account, { body });
      expect(response.headers.get("ratelimit")).toContain(`"key";r=${remaining};`);
      expect((await messageOf(response)).result.structuredContent.total).toBe(0);
    }
  });
});
