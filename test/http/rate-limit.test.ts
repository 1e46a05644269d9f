import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/config.ts";
import { verifyKey } from "../../src/keys.ts";
import { parseSecrets } from "../../src/signed-token.ts";
import { type Call, Client, clientOf, newClient } from "../support/client.ts";
import { fetchDeployed } from "../support/deployed.ts";

/** Parses a list of items with numeric parameters, `"name";a=1;b=2, …` (RFC 9651), by name. */
function read(response: Response, header: string): Record<string, Record<string, number>> {
  const items = (response.headers.get(header) ?? "").split(", ").filter(Boolean);
  return Object.fromEntries(
    items.map((item) => {
      const [name, ...parameters] = item.split(";");
      const values = parameters.map((parameter) => parameter.split("=") as [string, string]);
      return [JSON.parse(name!), Object.fromEntries(values.map(([k, v]) => [k, Number(v)]))];
    }),
  );
}

const invalidForm = (type: string): Call => ({
  body: "nonsense",
  headers: { "content-type": type },
});

describe("every response to a valid key has the rate limits in its headers", () => {
  const [keyRate, accountRate] = [Number(env.KEY_RATE), Number(env.ACCOUNT_RATE)];

  it("which decrease with each request", async () => {
    const client = await newClient();
    const responses: Response[] = [];
    for (let i = 0; i < 3; i++) responses.push(await client.send("GET", "/index"));
    const policies = { key: { q: keyRate, w: 60 }, account: { q: accountRate, w: 60 } };
    for (const [i, response] of responses.entries()) {
      expect(read(response, "ratelimit-policy")).toEqual(policies);
      const { key, account } = read(response, "ratelimit");
      expect(key!["r"]).toBe(keyRate - 1 - i);
      expect(account!["r"]).toBe(accountRate - 1 - i);
      expect(key!["t"]).toBeGreaterThan(0);
      expect(key!["t"]).toBeLessThanOrEqual(60);
    }
  });

  it("which count the account's other keys, too", async () => {
    const client = await newClient();
    const { api_key } = await client.json("POST", "/keys", { json: { name: "other" } });
    const response = await new Client(api_key).send("GET", "/index");
    expect(read(response, "ratelimit")["key"]!["r"]).toBe(keyRate - 1);
    expect(read(response, "ratelimit")["account"]!["r"]).toBe(accountRate - 2);
  });

  it.each<[number, string, string, Call?]>([
    [400, "POST", "/index/limited/image", invalidForm("multipart/form-data; boundary=x")],
    [402, "POST", "/keys", { json: { name: "one more" } }],
    [404, "GET", "/index/nothing"],
    [409, "POST", "/index", { json: { index_name: "limited" } }],
    [413, "POST", "/index", { json: { description: "x".repeat(LIMITS.jsonBytes) } }],
    [415, "POST", "/index/limited/image", invalidForm("text/plain")],
    [422, "GET", "/index?limit=0"],
    [422, "POST", "/index/limited/search", { json: {} }],
    [422, "POST", "/index", { headers: { "idempotency-key": "" } }],
    [429, "POST", "/index/limited/search", { json: { query: "boats" } }],
    [200, "GET", "/index/limited/events"],
  ])("also with %i: %s %s", async (status, method, path, call) => {
    const client = await newClient();
    await client.json("POST", "/index", { json: { index_name: "limited" } });
    const { account_id } = await client.json("POST", "/init");
    await env.DB.prepare("UPDATE accounts SET limits = ? WHERE account_id = ?")
      .bind(JSON.stringify({ keys: 1, searches_per_day: 0 }), account_id)
      .run();
    const response = await client.send(method, path, call);
    expect(response.status).toBe(status);
    expectLimits(response);
    await response.body?.cancel();
  });

  it("also with 403", async () => {
    const client = await clientOf(`rate-${crypto.randomUUID()}`, ["read"]);
    const response = await client.send("POST", "/index");
    expect(response.status).toBe(403);
    expectLimits(response);
  });

  it("also with 500", async () => {
    const client = await newClient();
    await client.json("GET", "/index");
    const DB: D1Database = Object.create(env.DB, {
      batch: { value: () => Promise.reject(new Error("out")) },
    });
    const response = await fetchDeployed({ DB }, client.key, "/index");
    expect(response.status).toBe(500);
    expectLimits(response);
  });

  function expectLimits(response: Response) {
    expect(Object.keys(read(response, "ratelimit"))).toEqual(["key", "account"]);
    expect(Object.keys(read(response, "ratelimit-policy"))).toEqual(["key", "account"]);
  }

  it("but not without a valid key", async () => {
    for (const [client, path] of [
      [new Client(""), "/index"],
      [new Client("a.b.c"), "/index"],
      [new Client(""), "/health"],
    ] as const) {
      expect((await client.send("GET", path)).headers.has("ratelimit")).toBe(false);
    }
  });
});

describe("requests past the rate limit return 429", () => {
  const rateLimit = env.THREE_A_MINUTE;
  const send = (settings: Partial<Env>, { key }: Client) => fetchDeployed(settings, key, "/index");

  /** Sends until the first 429. The binding counts clock minutes, and one may end meanwhile. */
  async function sendUntilLimited(next: () => Promise<Response>): Promise<Response[]> {
    const responses: Response[] = [];
    while (responses.at(-1)?.status !== 429 && responses.length < 8) responses.push(await next());
    return responses;
  }

  it("for one key", async () => {
    const [client, other] = [await newClient(), await newClient()];
    const settings = { RATE_LIMIT: rateLimit, KEY_RATE: "3" };
    const responses = await sendUntilLimited(() => send(settings, client));
    const admitted = responses.slice(0, 3);
    expect(admitted.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(admitted.map((response) => read(response, "ratelimit")["key"]!["r"])).toEqual([2, 1, 0]);
    const limited = responses.at(-1)!;
    expect(limited.status).toBe(429);
    expect(limited.headers.get("retry-after")).toBe("60");
    expect(read(limited, "ratelimit")["key"]).toEqual({ r: 0, t: 60 });
    expect(await limited.json()).toEqual({
      detail: "This key has reached its limit of 3 requests a minute.",
    });
    expect((await send(settings, other)).status).toBe(200);
  });

  it("for all keys of an account together", async () => {
    const client = await newClient();
    const claims = (await verifyKey(parseSecrets(env.KEY_SECRETS), client.key))!;
    const settings = { ACCOUNT_RATE_LIMIT: rateLimit, ACCOUNT_RATE: "3" };
    const responses = await sendUntilLimited(async () => {
      return send(settings, await clientOf(claims.accountName, ["read"]));
    });
    expect(responses.slice(0, 3).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(responses.at(-1)!.status).toBe(429);
  });
});
