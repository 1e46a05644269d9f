import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { IndexDatabase } from "../../src/durable/index-database.ts";
import { addAssetWithoutSegments, captionSegments } from "../support/caption-fixtures.ts";
import { newClient } from "../support/client.ts";
import { type AssetRef, runInIndex } from "../support/store-queries.ts";
import { waitUntil } from "../support/wait.ts";

const SEGMENT_COUNT = 1700;

const matching = async (asset: AssetRef, expression: string) => {
  const statement = "SELECT COUNT(*) AS count FROM segment_fts WHERE segment_fts MATCH ?";
  const [row] = await runInIndex<{ count: number }>(asset, statement, expression);
  return row!.count;
};

it("full text of an earlier version is written again, once for each segment", async () => {
  const client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "old" } });
  const asset = await addAssetWithoutSegments(client, "old", "video", "clip.mp4");
  const captions = Array.from({ length: SEGMENT_COUNT }, (_, at) => `women at e-mail ${at}`);
  await captionSegments(asset, captions);
  expect(await matching(asset, '"woman" AND "email"')).toBe(SEGMENT_COUNT);

  // What the version before wrote: the text as it is.
  await runInIndex(asset, "DELETE FROM segment_fts");
  await runInIndex(
    asset,
    `INSERT INTO segment_fts (rowid, caption, transcript, on_screen_text, labels)
      SELECT segment_key, caption, '', '', '' FROM segments`,
  );
  const database = env.INDEX_DATABASE.getByName(asset.indexId);
  await runInDurableObject(database, async (object: IndexDatabase, { storage }) => {
    storage.kv.put("full_text", { version: 1, writtenTo: null });
    await object.alarm();
  });
  const written = await matching(asset, '"woman"');
  expect(written).toBeGreaterThan(0);
  expect(written + (await matching(asset, '"women"'))).toBe(SEGMENT_COUNT);
  await runInIndex(
    asset,
    `UPDATE segments SET caption = 'two oxen'
      WHERE segment_key = (SELECT MAX(segment_key) FROM segments)`,
  );

  await waitUntil(async () => (await matching(asset, '"women"')) === 0);
  expect(await matching(asset, '"woman" AND "email"')).toBe(SEGMENT_COUNT - 1);
  expect(await matching(asset, '"ox"')).toBe(1);
  const rows = await runInIndex(asset, "SELECT COUNT(*) AS count FROM segment_fts_docsize");
  expect(rows).toEqual([{ count: SEGMENT_COUNT }]);
});

it("speech of an earlier version is read in the language of its asset", async () => {
  const client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "german" } });
  const asset = await addAssetWithoutSegments(client, "german", "video", "clip.mp4");
  await captionSegments(asset, ["two boats", "a house"]);
  // What version 7 wrote, before assets had a language.
  await runInIndex(
    asset,
    `UPDATE segments SET transcript = 'Die Häuser am Fluss sind sehr alt und nicht schön'`,
  );
  await runInIndex(asset, "UPDATE assets SET language = NULL");
  await runInIndex(asset, "UPDATE segment_fts SET caption = '', transcript = 'ɖdieɖ ɖhausɖɖ'");
  const database = env.INDEX_DATABASE.getByName(asset.indexId);
  await runInDurableObject(database, async (object: IndexDatabase, { storage }) => {
    storage.kv.put("full_text", { version: 7, writtenTo: null });
    await object.alarm();
  });
  expect(await runInIndex(asset, "SELECT language FROM assets")).toEqual([{ language: "de" }]);
  expect(await matching(asset, '"ɖfluss"')).toBe(2);
  expect(await matching(asset, '"boat"')).toBe(1);
});
