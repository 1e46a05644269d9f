import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { LIMITS } from "../src/config.ts";
import { newRevoked, spliced } from "./bad-keys.ts";
import { Client, clientOf, newClient } from "./client.ts";
import { messageOf, post, rpc } from "./mcp-client.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

describe("a message of the Model Context Protocol", () => {
  const PING = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "ping" });

  it("is answered by ping", async () => {
    expect(await rpc(client, { id: 7, method: "ping" })).toEqual({
      status: 200,
      message: { jsonrpc: "2.0", id: 7, result: {} },
    });
  });

  it("may be a notification, which has no answer", async () => {
    const sent = await rpc(client, { method: "notifications/initialized" });
    expect(sent).toEqual({ status: 202, message: null });
  });

  it.each([
    ["nothing", "", -32_700],
    ["half of a message", '{"jsonrpc": "2.0",', -32_700],
    ["a nest", "[".repeat(5000) + "]".repeat(5000), -32_700],
    ["a list of messages", `[${PING},${PING}]`, -32_600],
    ["no message", '"hello"', -32_600],
    ["a message without a method", '{"jsonrpc": "2.0", "id": 1}', -32_600],
  ])("of %s is an error of JSON-RPC", async (_, body, code) => {
    const response = await post(client, { body });
    expect(response.status).toBe(400);
    expect(await messageOf(response)).toMatchObject({ jsonrpc: "2.0", error: { code }, id: null });
  });

  it("of a revision that nobody knows is refused, with those that are known", async () => {
    const headers = { "mcp-protocol-version": "1999-01-01" };
    const { status, message } = await rpc(client, { id: 1, method: "ping" }, headers);
    expect(status).toBe(400);
    expect(JSON.stringify(message.error)).toContain("2025-11-25");
    const params = { protocolVersion: "1999-01-01", capabilities: {}, clientInfo: INFO };
    const asked = await rpc(client, { id: 1, method: "initialize", params });
    expect(asked.message.result.protocolVersion).toBe("2025-11-25");
  });

  it("that is too large is not read", async () => {
    const response = await post(client, { body: " ".repeat(LIMITS.jsonBytes + 1) });
    expect(response.status).toBe(413);
  });

  it("that is no JSON, or that takes no answer of ours, is refused", async () => {
    const plain = { "content-type": "text/plain" };
    expect((await post(client, { body: PING, headers: plain })).status).toBe(415);
    const html = { accept: "text/html" };
    expect((await post(client, { body: PING, headers: html })).status).toBe(406);
  });

  it.each(["GET", "DELETE", "PUT", "HEAD"])(
    "by %s is 405: there are no sessions",
    async (method) => {
      const response = await post(client, { body: "", method });
      expect(response.status).toBe(405);
      expect(response.headers.get("allow")).toBe("POST");
    },
  );

  it("has the headers of every answer", async () => {
    const response = await post(client, { body: PING });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "cache-control": "private, no-store",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "x-request-id": expect.stringMatching(/./),
    });
    await response.body?.cancel();
  });

  it("may come from a page of any origin, which has no key but its own", async () => {
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

  it("keeps no stream open", async () => {
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
    expect(await response.text()).toContain('"complete"'); // it has come to its end
  });

  const INFO = { name: "test", version: "1" };
  const META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": INFO,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
});

describe("a key", () => {
  const LIST = { id: 1, method: "tools/list" };

  it("is asked for, before anything is read", async () => {
    const stranger = await newClient();
    for (const [bad, headers] of [
      [new Client(""), {}],
      [new Client("garbage"), {}],
      [spliced(client, stranger), {}],
      [await newRevoked(), {}],
      [await clientOf("someone", ["read"], Date.now() - 1000), {}],
      [new Client(""), { authorization: "Bearer garbage" }],
      [new Client(""), { authorization: `Basic ${client.key}` }],
      [new Client("garbage"), { authorization: `Bearer ${client.key}` }],
    ] as const) {
      const response = await post(bad, { body: "no JSON", headers });
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe("Bearer, ApiKey");
      expect(await response.json()).toMatchObject({ detail: expect.stringContaining("API key") });
    }
  });

  it("may be a bearer token here, and nowhere else", async () => {
    const headers = { authorization: `Bearer ${client.key}` };
    const { status, message } = await rpc(new Client(""), LIST, headers);
    expect(status).toBe(200);
    expect(message.result.tools).toHaveLength(4);
    expect((await new Client("").send("GET", "/index", { headers })).status).toBe(401);
  });

  it("must be good for reading", async () => {
    const writer = await clientOf("writer", ["write", "admin"]);
    expect((await rpc(writer, LIST)).status).toBe(403);
    const reader = await clientOf("reader", ["read"]);
    expect((await rpc(reader, LIST)).status).toBe(200);
  });

  it("is counted once for a tool's request", async () => {
    const own = await newClient();
    const most = Number(env.KEY_RATE);
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "list_indices", arguments: {} },
    });
    for (const left of [most - 1, most - 2]) {
      const response = await post(own, { body });
      expect(response.headers.get("ratelimit")).toContain(`"key";r=${left};`);
      expect((await messageOf(response)).result.structuredContent.total).toBe(0);
    }
  });
});
