import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WEBHOOKS } from "../../src/config.ts";
import { signing, withNewSecret } from "../../src/durable/webhook-secrets.ts";
import { postWebhook, webhookHeaders } from "../../src/fetching/webhook.ts";

/** The example that Standard Webhooks' own libraries are tested with. */
const EXAMPLE = {
  secrets: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
  id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  payload: '{"test": 2432232314}',
};
const EXAMPLE_AT = 1_614_265_330_000;

describe("what signs a webhook", () => {
  it("is as the standard's example", async () => {
    expect(await webhookHeaders(EXAMPLE, EXAMPLE_AT + 999)).toMatchObject({
      "webhook-id": EXAMPLE.id,
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    });
  });

  it("is each secret by itself, over the letters as they are sent", async () => {
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

describe("secrets", () => {
  const [first] = withNewSecret([], 0);

  it("sign for another day once there is a new one", () => {
    const secrets = withNewSecret([first!], 1000);
    expect(secrets[1]).toEqual({ ...first, expiresAt: 1000 + WEBHOOKS.oldSecretMs });
    expect(signing(secrets, 1000 + WEBHOOKS.oldSecretMs - 1)).toEqual(secrets);
    expect(signing(secrets, 1000 + WEBHOOKS.oldSecretMs)).toEqual([secrets[0]]);
  });

  it("keep their end when there is yet another, and are three at most", () => {
    let secrets = withNewSecret([first!], 1000);
    secrets = withNewSecret(secrets, 2000);
    expect(secrets.map(({ expiresAt }) => expiresAt)).toEqual([
      null,
      2000 + WEBHOOKS.oldSecretMs,
      1000 + WEBHOOKS.oldSecretMs,
    ]);
    expect(withNewSecret(secrets, 3000)).toHaveLength(3);
  });
});

describe("an attempt to deliver", () => {
  const asked: string[] = [];
  let server: Server;
  let host: string;

  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push(request.url!);
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

  const post = (path: string, allowed = host, now = EXAMPLE_AT) =>
    postWebhook({ ...EXAMPLE, url: `http://${host}${path}` }, allowed, now, 300);

  it.each<[string, object]>([
    ["/200", { status: 200, problem: null }],
    ["/204", { status: 204, problem: null }],
    ["/400", { status: 400, problem: "The receiver answered 400." }],
    ["/503/retry-after/120", { status: 503, retryAfter: 120 }],
    ["/429/retry-after/Thu, 25 Feb 2021 15:03:10 GMT", { status: 429, retryAfter: 60 }],
    ["/500/retry-after/soon", { status: 500, problem: "The receiver answered 500." }],
    ["/silent", { status: null, problem: "No answer came within 0.3 s." }],
  ])("%s", async (path, expected) => {
    const outcome = await post(path);
    expect(outcome).toMatchObject(expected);
    if (!("retryAfter" in expected)) expect(outcome).not.toHaveProperty("retryAfter");
  });

  it("doesn't follow redirects", async () => {
    const outcome = await post(`/302/location/${encodeURIComponent(`http://${host}/inside`)}`);
    expect(outcome).toEqual({
      status: 302,
      problem: "The receiver answered 302: redirects are not followed.",
    });
    expect(asked).not.toContain("/inside");
  });

  it("doesn't go to a private address", async () => {
    asked.length = 0;
    const { status, problem } = await post("/200", "");
    expect({ status, problem }).toEqual({
      status: null,
      problem: "The URL leads to a private address; give a public one.",
    });
    expect(asked).toEqual([]);
  });

  it("says where nobody is", async () => {
    const message = { ...EXAMPLE, url: "http://127.0.0.1:1/" };
    expect(await postWebhook(message, "127.0.0.1:1", 0, 300)).toEqual({
      status: null,
      problem: "The receiver could not be reached, or broke off.",
    });
  });
});
