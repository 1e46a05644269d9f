import { describe, expect, it } from "vitest";
import { type Call, type Client, fixture, newClient } from "../support/client.ts";
import { profileOf } from "../support/import-helpers.ts";
import { run } from "../support/store-queries.ts";
import { encode } from "../support/tus-client.ts";

const SHARE = 300_000;
const MAX_REQUESTS = 3000;
const CONCURRENCY = 10;

/** A way to store something in D1 by its `i`th request. */
type Attack = [title: string, send: (client: Client, i: number) => Promise<Response>];

const text = (bytes: number) => "é".repeat(bytes / 2);
const metadata = (bytes: number) => ({ text: text(bytes) });
const key = () => ({ "idempotency-key": `${crypto.randomUUID()}${"k".repeat(200)}` });
const post = (client: Client, path: string, call: Call = {}) => client.send("POST", path, call);
const upload = (client: Client, headers: Record<string, string>, body?: BodyInit) =>
  post(client, "/index/a/uploads", {
    headers: {
      "tus-resumable": "1.0.0",
      "content-type": "application/offset+octet-stream",
      ...headers,
    },
    ...(body !== undefined && { body }),
  });

const ATTACKS: Attack[] = [
  ["empty indices", (client) => post(client, "/index")],
  [
    "indices with metadata",
    (client) => post(client, "/index", { json: { metadata: metadata(60_000) } }),
  ],
  [
    "responses to requests with a key",
    (client) => post(client, "/index", { json: { metadata: metadata(20_000) }, headers: key() }),
  ],
  [
    "indices that are deleted at once",
    async (client, i) => {
      const created = await post(client, "/index", { json: { index_name: `d${i}` } });
      if (created.status === 200) await client.json("DELETE", `/index/d${i}`);
      return created;
    },
  ],
  [
    "webhook URLs",
    (client) =>
      post(client, "/index", {
        json: { settings: { webhook_url: `https://example.com/${"w".repeat(4000)}` } },
      }),
  ],
  [
    "metadata that grows",
    (client, i) =>
      client.send("PATCH", `/index/${i % 40}`, { json: { metadata: metadata(2000 * (i + 1)) } }),
  ],
  [
    "keys that are revoked at once",
    async (client) => {
      const created = await post(client, "/keys", { json: { name: text(400) } });
      if (created.status !== 200) return created;
      const { key_id } = await created.clone().json<{ key_id: string }>();
      await client.json("DELETE", `/keys/${key_id}`);
      return created;
    },
  ],
  [
    "sources of imports that fail",
    (client, i) =>
      post(client, "/index/a/photonet/profile", {
        json: { ...profileOf(`none-${i}-profile`), metadata: metadata(5000) },
      }),
  ],
  [
    "queued searches",
    (client) => post(client, "/index/a/search", { json: { query: "x", queue_job: true } }),
  ],
  [
    "uploads with metadata",
    (client) =>
      upload(client, {
        "upload-length": "10",
        "upload-metadata": `metadata_str ${encode(JSON.stringify(metadata(10_000)))}`,
      }),
  ],
  [
    "the same image under many keys",
    async (client) =>
      post(client, "/index/a/image", {
        form: {
          image_file: await fixture("boats.jpg"),
          metadata_str: JSON.stringify(metadata(30_000)),
        },
        headers: key(),
      }),
  ],
];

async function sizeOfDatabase(): Promise<number> {
  return (await run("SELECT 1")).meta.size_after;
}

describe("an account can't fill D1 beyond its share", () => {
  it.each(ATTACKS)("with %s", async (title, send) => {
    const client = await newClient();
    const { account_id } = await client.json("POST", "/init");
    await client.json("POST", "/index", { json: { index_name: "a" } });
    if (title.startsWith("metadata")) {
      for (let i = 0; i < 40; i++)
        await client.json("POST", "/index", { json: { index_name: `${i}` } });
    }
    const limits = JSON.stringify({
      record_bytes: SHARE,
      indices: 1e6,
      keys: 1e6,
      open_uploads: 1e6,
    });
    await run("UPDATE accounts SET limits = ? WHERE account_id = ?", limits, account_id);
    const before = await sizeOfDatabase();
    let refusals = 0;
    for (let i = 0; i < MAX_REQUESTS && refusals < 3 * CONCURRENCY; i += CONCURRENCY) {
      const responses = await Promise.all(
        Array.from({ length: CONCURRENCY }, (_, k) => send(client, i + k)),
      );
      refusals += responses.filter(({ status }) => status === 402 || status === 422).length;
      await Promise.all(responses.map((response) => response.arrayBuffer()));
    }
    const growth = (await sizeOfDatabase()) - before;
    expect(refusals).toBeGreaterThan(0);
    expect(growth).toBeLessThan(1.5 * SHARE);
  });
});
