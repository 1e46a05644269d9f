import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WEBHOOKS } from "../../../src/config.ts";
import { activeSecrets, withNewSecret } from "../../../src/durable/webhook.ts";
import { postWebhook, webhookHeaders } from "../../../src/fetching/webhook.ts";
import { WATCHDOG_MS } from "../../support/watchdog.ts";

/** The test vector of Standard Webhooks' libraries. */
const EXAMPLE = {
  secrets: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
  id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  payload: '{"test": 2432232314}',
};
const EXAMPLE_AT = 1_614_265_330_000;

describe("the signature of a webhook", () => {
  it("matches the test vector of Standard Webhooks", async () => {
    expect(await webhookHeaders(EXAMPLE, EXAMPLE_AT + 999)).toMatchObject({
      "webhook-id": EXAMPLE.id,
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    });
  });

  it("has one part per secret, over the UTF-8 bytes of the payload", async () => {
    const payload = '{"title":"Zürich 🎬"}';
    const secrets = withNewSecret(withNewSecret([], 0), 0).map(({ secret }) => secret);
    const headers = await webhookHeaders({ id: "evt_1", payload, secrets }, 5000);
    const expected = secrets.map((secret) => {
      const key = Buffer.from(secret.slice("whsec_".length), "base64");
      expect(key).toHaveLength(32);
      return `v1,${createHmac("sha256", key).update(`evt_1.5.${payload}`).digest("base64")}`;
    });
    expect(headers["webhook-signature"]).toBe(expected.join(" "));
    expect(new Set(expected).size).toBe(2);
  });
});

describe("webhook secrets", () => {
  const [first] = withNewSecret([], 0);

  it("are 32 random bytes in base64 after whsec_", () => {
    expect(first!.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(withNewSecret([], 0)[0]!.secret).not.toBe(first!.secret);
  });

  it("stay active for a day after a rotation", () => {
    const secrets = withNewSecret([first!], 1000);
    expect(secrets[1]).toEqual({ ...first, expiresAt: 1000 + WEBHOOKS.rotatedSecretMs });
    expect(activeSecrets(secrets, 1000 + WEBHOOKS.rotatedSecretMs - 1)).toEqual(secrets);
    expect(activeSecrets(secrets, 1000 + WEBHOOKS.rotatedSecretMs)).toEqual([secrets[0]]);
  });

  it("keep their expiry at a second rotation, and are three at most", () => {
    let secrets = withNewSecret([first!], 1000);
    secrets = withNewSecret(secrets, 2000);
    expect(secrets.map(({ expiresAt }) => expiresAt)).toEqual([
      null,
      2000 + WEBHOOKS.rotatedSecretMs,
      1000 + WEBHOOKS.rotatedSecretMs,
    ]);
    expect(withNewSecret(secrets, 3000)).toHaveLength(3);
  });
});

describe("a delivery attempt", () => {
  const requestedPaths: string[] = [];
  let server: Server;
  let host: string;

  beforeAll(async () => {
    server = createServer((request, response) => {
      requestedPaths.push(request.url!);
      const [, status, header, value] = request.url!.split("/").map(decodeURIComponent);
      if (status === "silent") return;
      response.writeHead(Number(status), header ? { [header]: value } : {}).end("x".repeat(1e6));
    });
    server.listen({ port: 0, host: "127.0.0.1" });
    await once(server, "listening");
    const address = server.address();
    host = typeof address === "object" ? `127.0.0.1:${address!.port}` : "";
  });

  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });

  const post = (path: string, allowed = host, timeoutMs = WATCHDOG_MS) =>
    postWebhook({ ...EXAMPLE, url: `http://${host}${path}` }, allowed, EXAMPLE_AT, timeoutMs);

  it.each<[string, object]>([
    ["/200", { statusCode: 200, error: null }],
    ["/204", { statusCode: 204, error: null }],
    ["/400", { statusCode: 400, error: "The receiver answered 400." }],
    ["/503/retry-after/120", { statusCode: 503, retryAfter: 120 }],
    ["/429/retry-after/Thu, 25 Feb 2021 15:03:10 GMT", { statusCode: 429, retryAfter: 60 }],
    ["/500/retry-after/soon", { statusCode: 500, error: "The receiver answered 500." }],
  ])("to %s returns its outcome", async (path, expected) => {
    const outcome = await post(path);
    expect(outcome).toMatchObject(expected);
    if (!("retryAfter" in expected)) expect(outcome).not.toHaveProperty("retryAfter");
  });

  it("to a receiver that doesn't answer ends after its time limit", async () => {
    const error = "No answer came within 0.3 s.";
    expect(await post("/silent", host, 300)).toEqual({ statusCode: null, error });
  });

  it("doesn't follow redirects", async () => {
    const outcome = await post(`/302/location/${encodeURIComponent(`http://${host}/inside`)}`);
    expect(outcome).toEqual({
      statusCode: 302,
      error: "The receiver answered 302: redirects are not followed.",
    });
    expect(requestedPaths).not.toContain("/inside");
  });

  it("doesn't connect to a private address", async () => {
    requestedPaths.length = 0;
    const { statusCode, error } = await post("/200", "");
    expect({ statusCode, error }).toEqual({
      statusCode: null,
      error: "The URL leads to a private address, which isn't in FETCH_ALLOW; give a public one.",
    });
    expect(requestedPaths).toEqual([]);
  });

  it("reports a receiver that can't be reached", async () => {
    const message = { ...EXAMPLE, url: "http://127.0.0.1:1/" };
    expect(await postWebhook(message, "127.0.0.1:1", 0, 300)).toEqual({
      statusCode: null,
      error: "The receiver could not be reached, or broke off.",
    });
  });
});
