import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { INDEX_DATABASE_MIGRATIONS } from "../../src/durable/index-database-schema.ts";
import { MEDIA_INDEX_MIGRATIONS } from "../../src/durable/media-index-schema.ts";
import { migrate } from "../../src/durable/migrate.ts";
import { MODEL_LIMITER_MIGRATIONS } from "../../src/durable/model-limiter.ts";

const LATER = "ALTER TABLE later ADD COLUMN note TEXT";

it.each([
  ["MediaIndex", MEDIA_INDEX_MIGRATIONS],
  ["IndexDatabase", INDEX_DATABASE_MIGRATIONS],
  ["ModelLimiter", MODEL_LIMITER_MIGRATIONS],
])("a rollback and the next release leave the schema of %s as it is", async (_, migrations) => {
  const stub = env.MODEL_LIMITER.getByName(crypto.randomUUID());
  await runInDurableObject(stub, async (_object, { storage }) => {
    await storage.deleteAll();
    const releases = [...migrations, "CREATE TABLE later (at INTEGER)", LATER];
    const readSchema = () => [
      storage.kv.get("schema"),
      storage.sql.exec("SELECT name, sql FROM sqlite_master ORDER BY name").toArray(),
    ];
    const current = releases.slice(0, -1);
    migrate(storage, current);
    const before = readSchema();
    for (let release = 0; release < current.length; release++) {
      migrate(storage, current.slice(0, release));
      expect(readSchema()).toEqual(before);
    }
    migrate(storage, current);
    expect(readSchema()).toEqual(before);
    migrate(storage, releases);
    migrate(storage, current);
    migrate(storage, releases);
    expect(storage.kv.get("schema")).toBe(releases.length);
    expect(storage.sql.exec("SELECT note FROM later").toArray()).toEqual([]);
  });
});
