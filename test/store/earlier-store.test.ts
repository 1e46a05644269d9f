import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { INDEX_DATABASE_MIGRATIONS } from "../../src/durable/index-database-schema.ts";
import { type Client, type Json, newClient } from "../support/client.ts";
import { waitUntil } from "../support/wait.ts";
import store from "./earlier-store.json" with { type: "json" };

// The rows of three assets as the version of 2026-11-28 wrote them: the demo's `story.mp4`,
// `receipt.jpg` and `nagasaki.jpg`, without vectors and media. Its full text had other
// forms of words, and no names.
let client: Client;
let indexId: string;

type Row = Record<string, string | number>;

function insertionOf(table: string, row: Row): [string, ...(string | number)[]] {
  const columns = Object.keys(row);
  const marks = columns.map(() => "?").join(", ");
  return [`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${marks})`, ...Object.values(row)];
}

async function fillDatabase(): Promise<void> {
  const database = env.INDEX_DATABASE.getByName(indexId);
  await runInDurableObject(database, async (_, { storage }) => {
    await storage.deleteAll();
    for (const sql of INDEX_DATABASE_MIGRATIONS.slice(0, store.schema)) storage.sql.exec(sql);
    storage.sql.exec("DELETE FROM segment_fts");
    for (const [table, rows] of Object.entries(store.database)) {
      for (const row of rows as Row[]) storage.sql.exec(...insertionOf(table, row));
    }
    storage.kv.put("schema", store.schema);
    storage.kv.put("full_text", { version: store.full_text, writtenTo: null });
    await storage.sync();
  });
  // The next call starts the object with the code of today.
  await runInDurableObject(database, (_, ctx) => ctx.abort("upgrade")).catch(() => null);
}

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "family" } });
  const index = await env.DB.prepare(
    "SELECT index_id, account_id FROM indices WHERE name = 'family'",
  ).first<{ index_id: string; account_id: string }>();
  indexId = index!.index_id;
  for (const [table, rows] of Object.entries(store.d1)) {
    for (const row of rows as Row[]) {
      const owner = table === "assets" ? index! : {};
      const [sql, ...values] = insertionOf(table, { ...row, ...owner });
      await env.DB.prepare(sql)
        .bind(...values)
        .run();
    }
  }
  await fillDatabase();
});

const search = (query: string) =>
  client.json("POST", "/index/family/search", {
    json: { query, modes: ["speech", "text", "title", "visual"] },
  });

describe("a store of an earlier version", () => {
  it("has its assets", async () => {
    const { videos } = await client.json("GET", "/index/family/videos");
    expect(videos.map(({ title, segments }: Json) => [title, segments])).toEqual([
      ["story.mp4", 6],
    ]);
    const { images } = await client.json("GET", "/index/family/images");
    expect(images.map(({ title }: Json) => title).toSorted()).toEqual([
      "nagasaki.jpg",
      "receipt.jpg",
    ]);
  });

  it.each([
    ["glacier", "story.mp4", 5],
    ["carpenters", "story.mp4", 9.58],
    ["sourdough", "receipt.jpg", null],
    ["two boats", "nagasaki.jpg", null],
    ["receipt.jpg", "receipt.jpg", null],
  ])("finds “%s” first, once its full text is written again", async (query, title, start) => {
    await waitUntil(async () => (await search(query)).segments[0]?.title === title);
    const [first] = (await search(query)).segments;
    expect([first.title, first.start_seconds]).toEqual([title, start]);
  });
});
