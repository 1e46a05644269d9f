import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { verifyKey, parseSecrets } from "../src/keys.ts";
import { LIMITS } from "../src/config.ts";
import { type Call, Client, clientOf, newClient } from "./client.ts";
import { askDeployed } from "./deployed.ts";

/** `"name";a=1;b=2, …` (RFC 9651) as numbers by name. */
function read(response: Response, header: string): Record<string, Record<string, number>> {
  const items = (response.headers.get(header) ?? "").split(", ").filter(Boolean);
  return Object.fromEntries(
    items.map((item) => {
      const [name, ...parameters] = item.split(";");
      const values = parameters.map((one) => one.split("=") as [string, string]);
      return [JSON.parse(name!), Object.fromEntries(values.map(([k, v]) => [k, Number(v)]))];
    }),
  );
}

const broken = (type: string): Call => ({ body: "nonsense", headers: { "content-type": type } });

describe("every answer to a key says what is left", () => {
  const [most, ofAccount] = [Number(env.KEY_RATE), Number(env.ACCOUNT_RATE)];

  it("and less with each request", async () => {
    const client = await newClient();
    const answers: Response[] = [];
    for (let i = 0; i < 3; i++) answers.push(await client.send("GET", "/index"));
    const policies = { key: { q: most, w: 60 }, account: { q: ofAccount, w: 60 } };
    for (const [i, answer] of answers.entries()) {
      expect(read(answer, "ratelimit-policy")).toEqual(policies);
      const { key, account } = read(answer, "ratelimit");
      expect(key!["r"]).toBe(most - 1 - i);
      expect(account!["r"]).toBe(ofAccount - 1 - i);
      expect(key!["t"]).toBeGreaterThan(0);
      expect(key!["t"]).toBeLessThanOrEqual(60);
    }
  });

  it("also of an account's other keys", async () => {
    const client = await newClient();
    const { api_key } = await client.json("POST", "/keys", { json: { name: "other" } });
    const answer = await new Client(api_key).send("GET", "/index");
    expect(read(answer, "ratelimit")["key"]!["r"]).toBe(most - 1);
    expect(read(answer, "ratelimit")["account"]!["r"]).toBe(ofAccount - 2);
  });

  it.each<[number, string, string, Call?]>([
    [400, "POST", "/index/limited/image", broken("multipart/form-data; boundary=x")],
    [402, "POST", "/keys", { json: { name: "one more" } }],
    [404, "GET", "/index/nothing"],
    [409, "POST", "/index", { json: { index_name: "limited" } }],
    [413, "POST", "/index", { json: { description: "x".repeat(LIMITS.jsonBytes) } }],
    [415, "POST", "/index/limited/image", broken("text/plain")],
    [422, "GET", "/index?limit=0"],
    [422, "POST", "/index/limited/search", { json: {} }],
    [422, "POST", "/index", { headers: { "idempotency-key": "" } }],
    [429, "POST", "/index/limited/search", { json: { query: "boats" } }],
    [200, "GET", "/index/limited/events"],
  ])("also if it is %i: %s %s", async (status, method, path, call) => {
    const client = await newClient();
    await client.json("POST", "/index", { json: { index_name: "limited" } });
    const { account_id } = await client.json("POST", "/init");
    await env.DB.prepare("UPDATE accounts SET limits = ? WHERE account_id = ?")
      .bind(JSON.stringify({ keys: 1, searches_per_day: 0 }), account_id)
      .run();
    const answer = await client.send(method, path, call);
    expect(answer.status).toBe(status);
    expectLimits(answer);
    await answer.body?.cancel();
  });

  it("also if its scope isn't enough", async () => {
    const client = await clientOf(`rate-${crypto.randomUUID()}`, ["read"]);
    const answer = await client.send("POST", "/index");
    expect(answer.status).toBe(403);
    expectLimits(answer);
  });

  it("also if something went wrong on our side", async () => {
    const client = await newClient();
    await client.json("GET", "/index");
    const DB: D1Database = Object.create(env.DB, {
      batch: { value: () => Promise.reject(new Error("out")) },
    });
    const answer = await askDeployed({ DB }, client.key, "/index");
    expect(answer.status).toBe(500);
    expectLimits(answer);
  });

  function expectLimits(answer: Response) {
    expect(Object.keys(read(answer, "ratelimit"))).toEqual(["key", "account"]);
    expect(Object.keys(read(answer, "ratelimit-policy"))).toEqual(["key", "account"]);
  }

  it("and none to who has none", async () => {
    for (const [client, path] of [
      [new Client(""), "/index"],
      [new Client("a.b.c"), "/index"],
      [new Client(""), "/health"],
    ] as const) {
      expect((await client.send("GET", path)).headers.has("ratelimit")).toBe(false);
    }
  });
});

describe("too many requests are refused, by the minute", () => {
  const few = env.THREE_A_MINUTE;
  const ask = (settings: Partial<Env>, { key }: Client) => askDeployed(settings, key, "/index");

  /** The answers up to the first refusal. The binding's minutes are the clock's: one may end meanwhile. */
  async function askOften(next: () => Promise<Response>): Promise<Response[]> {
    const answers: Response[] = [];
    while (answers.at(-1)?.status !== 429 && answers.length < 8) answers.push(await next());
    return answers;
  }

  it("of one key", async () => {
    const [client, other] = [await newClient(), await newClient()];
    const settings = { RATE_LIMIT: few, KEY_RATE: "3" };
    const answers = await askOften(() => ask(settings, client));
    expect(answers.slice(0, 3).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.slice(0, 3).map((one) => read(one, "ratelimit")["key"]!["r"])).toEqual([
      2, 1, 0,
    ]);
    const refused = answers.at(-1)!;
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("60");
    expect(read(refused, "ratelimit")["key"]).toEqual({ r: 0, t: 60 });
    expect(await refused.json()).toEqual({
      detail: "This key may send 3 requests a minute, and has; wait.",
    });
    expect((await ask(settings, other)).status).toBe(200);
  });

  it("of all keys of an account", async () => {
    const client = await newClient();
    const claims = (await verifyKey(parseSecrets(env.KEY_SECRETS), client.key))!;
    const settings = { ACCOUNT_RATE_LIMIT: few, ACCOUNT_RATE: "3" };
    const answers = await askOften(async () => {
      return ask(settings, await clientOf(claims.accountName, ["read"]));
    });
    expect(answers.slice(0, 3).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.at(-1)!.status).toBe(429);
  });
});
