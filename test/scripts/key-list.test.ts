import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const KEY = {
  key_id: "key_1",
  name: "phone \u001b[31m",
  scopes: ["read", "write"],
  is_current: false,
  created_at: "2026-01-02T03:04:05.000Z",
  expires_at: null,
  last_used_at: null,
  revoked_at: null,
  kid: null,
};
const REVOKED = "2026-02-03T04:05:06.000Z";

/** Stubs a deployed service with two keys, one per page. */
const server = createServer((request, response) => {
  const { method, url, headers } = request;
  const [status, body] =
    headers["x-api-key"] === "admin"
      ? (RESPONSES[`${method} ${url}`] ?? [404, { detail: "There is no such key." }])
      : [401, { detail: "The API key is not valid." }];
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
});

const RESPONSES: Record<string, [number, object]> = {
  "GET /keys?limit=100": [200, { keys: [KEY], total: 2, next_cursor: "more" }],
  "GET /keys?limit=100&cursor=more": [
    200,
    {
      keys: [
        {
          ...KEY,
          key_id: "key_2",
          name: null,
          is_current: true,
          last_used_at: REVOKED,
          kid: "k1",
        },
      ],
      total: 2,
      next_cursor: null,
    },
  ],
  "DELETE /keys/key_1": [200, { ...KEY, revoked_at: REVOKED }],
};

let url: string;

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}/`;
});
afterAll(() => void server.close());

async function run(args: string[], apiKey = "admin") {
  const env = { ...process.env, API_KEY: apiKey };
  const child = spawn(process.execPath, ["scripts/key.ts", ...args], { env });
  const ended = once(child, "exit");
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { out, err, status: (await ended)[0] as number };
}

const LINES = {
  first: "key_1  read,write  made 2026-01-02 03:04Z, never used  phone [31m\n",
  second:
    "key_2  read,write  made 2026-01-02 03:04Z, used 2026-02-03 04:05Z, signed with k1, this key\n",
  revoked:
    "key_1  read,write  made 2026-01-02 03:04Z, never used, " +
    "revoked 2026-02-03 04:05Z  phone [31m\n",
};

describe("key", () => {
  it("list prints one line per key of all pages", async () => {
    const listed = await run(["list", "--url", url]);
    expect(listed).toEqual({ out: LINES.first + LINES.second, err: "", status: 0 });
  });

  it("revoke prints each revoked key, up to the first that does not exist", async () => {
    const revoked = await run(["revoke", "key_1", "key_0", "--url", url]);
    expect(revoked).toEqual({ out: LINES.revoked, err: "There is no such key.\n", status: 1 });
  });

  it.each<[string[], string, number, string]>([
    [["list"], "", 1, "API_KEY"],
    [["list"], "another", 1, "The API key is not valid."],
    [["revoke"], "admin", 2, "KEY_ID"],
    [["list", "key_1"], "admin", 2, "key_1"],
    [["list", "--url", "sightline.example.com"], "admin", 2, "--url"],
  ])("%j with API_KEY=%j fails with a message", async (args, apiKey, status, message) => {
    const withUrl = args.includes("--url") ? args : [...args, "--url", url];
    const { out, err, ...ended } = await run(withUrl, apiKey);
    expect({ out, ...ended }).toEqual({ out: "", status });
    expect(err).toContain(message);
  });
});
