import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { CloudflareApi } from "../../scripts/cloudflare/api.ts";
import { applyMigrations, toImportFile } from "../../scripts/cloudflare/migrations.ts";
import { applyPlan, planSetup } from "../../scripts/cloudflare/provision.ts";
import type { D1Database } from "../../tools/fake-cloudflare/d1-database.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";
import { ACCOUNT_ID, runScript, runWrangler, setUpCloudflare, TOKEN } from "./cloudflare-api.ts";
import { REFUSED_SQL } from "./refused-sql.ts";

const cloudflare = setUpCloudflare();
const root = mkdtempSync(join(tmpdir(), "sightline-migrations-"));
afterAll(() => rmSync(root, { recursive: true }));

const CONFIG = "wrangler.staging.toml";
const MIGRATIONS = readdirSync(join(PROJECT, "migrations")).sort();
/** The first statement succeeds, the second fails. */
const HALF = "CREATE TABLE half (x INTEGER) STRICT;\nINSERT INTO nowhere VALUES (1);\n";
let folder = "";
let database: D1Database;

/** Makes a project with the template and no migration, and sets up its account. */
beforeEach(async () => {
  folder = mkdtempSync(join(root, "project-"));
  mkdirSync(join(folder, "migrations"));
  cpSync(join(PROJECT, "wrangler.toml"), join(folder, "wrangler.toml"));
  const api = new CloudflareApi(ACCOUNT_ID, TOKEN, cloudflare.url);
  const plan = await planSetup(api, folder, "staging", { location: null, imageDimensions: 1024 });
  await applyPlan(api, plan, () => {});
  database = cloudflare.account.databases.get("sightline-staging")!;
  cloudflare.writes = [];
});

const addMigration = (name: string, sql: string) =>
  writeFileSync(join(folder, "migrations", name), sql);
const addRealMigrations = () =>
  cpSync(join(PROJECT, "migrations"), join(folder, "migrations"), { recursive: true });
const runD1 = (...command: string[]) =>
  runWrangler(cloudflare, folder, CONFIG, "d1", ...command, "--remote");
const runDeploy = () => runScript(cloudflare, folder, ["deploy", "--env", "staging"]);
const countImports = () => cloudflare.writes.filter((write) => write.endsWith("/import")).length;
const readColumn = (sql: string) =>
  database.sqlite
    .prepare(sql)
    .all()
    .map((row) => Object.values(row)[0]);
const listApplied = () => readColumn("SELECT name FROM d1_migrations ORDER BY id");
const listTables = () => readColumn("SELECT name FROM sqlite_master WHERE type = 'table'");

/** Applies the migrations as deploy does. Returns what it logs. */
async function migrate(): Promise<string[]> {
  const lines: string[] = [];
  await applyMigrations({
    api: new CloudflareApi(ACCOUNT_ID, TOKEN, cloudflare.url),
    environment: "staging",
    config: CONFIG,
    databaseId: database.uuid,
    folder: join(folder, "migrations"),
    importFile: async (path) =>
      (await runD1("execute", "DB", "--yes", "--file", path)).status === 0,
    log: (line) => lines.push(line),
  });
  return lines;
}

describe("the migrations of a deployment", () => {
  it("are imported once, and Wrangler lists them as applied", async () => {
    addRealMigrations();
    const lines = await migrate();
    expect(lines).toHaveLength(MIGRATIONS.length);
    expect(lines[0]).toMatch(/^0001_init\.sql: the bookmark of the database before it is 0000/);
    expect(listApplied()).toEqual(MIGRATIONS);
    expect(readColumn("SELECT count(*) FROM assets")).toEqual([0]);
    const imports = countImports();
    expect(await migrate()).toEqual(["No migration is pending."]);
    expect(countImports()).toBe(imports);
    expect((await runD1("migrations", "list", "DB")).stdout).toContain("No migrations to apply!");
  });

  it("are imported again after the database was restored", async () => {
    addMigration("0001_a.sql", "CREATE TABLE a (x INTEGER) STRICT;\n");
    const before = database.bookmark();
    await migrate();
    database.restore(before);
    await migrate();
    expect(listApplied()).toEqual(["0001_a.sql"]);
  });

  it("are recognised if Wrangler has applied them", async () => {
    addRealMigrations();
    expect(await runD1("migrations", "apply", "DB")).toMatchObject({ status: 0 });
    expect(await migrate()).toEqual(["No migration is pending."]);
    expect(countImports()).toBe(0);
  });

  it.each(REFUSED_SQL)(
    "with $cause are imported, though Wrangler's apply is refused (#$issue)",
    async ({ sql, message }) => {
      addMigration("0001_items.sql", sql);
      const before = database.bookmark();
      const apply = await runD1("migrations", "apply", "DB");
      expect(apply.status).toBe(1);
      expect(apply.stderr).toContain(message);
      database.restore(before);
      await migrate();
      expect(listApplied()).toEqual(["0001_items.sql"]);
      expect(listTables()).toContain("items");
    },
  );

  it("are applied if only the answer to an import is lost", async () => {
    addMigration("0001_a.sql", "CREATE TABLE a (x INTEGER) STRICT;\n");
    const isIngest = (write: string) => write.endsWith("/import") && countImports() === 2;
    cloudflare.fail = (write) => (isIngest(write) ? "lose" : null);
    expect((await migrate()).at(-1)).toBe("0001_a.sql is applied: only the answer was lost.");
    expect(listTables()).toContain("a");
  });

  it("are applied once if two deployments import one at the same time", async () => {
    const sql = "CREATE TABLE IF NOT EXISTS a (x INTEGER);\nINSERT INTO a VALUES (1);\n";
    const importTwice = (at: number) => {
      const file = toImportFile("0001_a.sql", sql, new Date(at));
      const { bookmark, error } = database.ingest(database.upload(Buffer.from(file)));
      while (database.poll(bookmark)!.left > 0);
      return error;
    };
    expect(importTwice(0)).toBeNull();
    database.undoesFailedImports = false;
    expect(importTwice(1)).toBe("UNIQUE constraint failed: d1_migrations.name: SQLITE_ERROR");
    expect(readColumn("SELECT x FROM a")).toEqual([1]);
  });
});

describe("deploy, if a migration fails half-way", () => {
  it("says that D1 has undone it, and applies the corrected one", async () => {
    addMigration("0001_a.sql", "CREATE TABLE a (x INTEGER) STRICT;\n");
    addMigration("0002_half.sql", HALF);
    const { stdout, stderr, status } = await runDeploy();
    expect(status).toBe(1);
    expect(stderr).toContain("no such table: nowhere");
    expect(stderr).toContain("0002_half.sql was not applied. The database has the same tables");
    expect(stderr).toContain("npm run deploy -- --env staging");
    expect(stderr).toContain('"Apply the migrations" failed. The Worker is unchanged');
    const bookmark = /0002_half\.sql: the bookmark of the database before it is (\S+)/.exec(
      stdout,
    )![1]!;
    expect(stderr).toContain(
      `npx wrangler d1 time-travel restore DB --bookmark ${bookmark} --config ${CONFIG}`,
    );
    expect(listApplied()).toEqual(["0001_a.sql"]);
    expect(listTables()).not.toContain("half");
    addMigration("0002_half.sql", HALF.replace("nowhere", "half"));
    await migrate();
    expect(listApplied()).toEqual(["0001_a.sql", "0002_half.sql"]);
  });

  it("prints the command that restores a database which kept a part", async () => {
    database.undoesFailedImports = false;
    addMigration("0001_a.sql", "CREATE TABLE a (x INTEGER) STRICT;\n");
    addMigration("0002_half.sql", HALF);
    const { stderr } = await runDeploy();
    expect(stderr).toContain("0002_half.sql was applied in part");
    expect(listTables()).toContain("half");
    const [, restore = ""] = /npx wrangler (d1 time-travel restore .*) --config/.exec(stderr)!;
    const { status } = await runWrangler(
      cloudflare,
      folder,
      CONFIG,
      ...restore.split(" "),
      "--json",
    );
    expect(status).toBe(0);
    expect(listTables()).not.toContain("half");
    expect(listApplied()).toEqual(["0001_a.sql"]);
    addMigration("0002_half.sql", HALF.replace("nowhere", "half"));
    await migrate();
    expect(listApplied()).toEqual(["0001_a.sql", "0002_half.sql"]);
  });

  it("says that the state is unknown if the database doesn't answer", async () => {
    addMigration("0001_a.sql", "CREATE TABLE a (x INTEGER) STRICT;\n");
    cloudflare.fail = (_, number) => (number > 1 ? "refuse" : null);
    const { stderr } = await runDeploy();
    expect(stderr).toContain("Whether 0001_a.sql was applied is unknown");
    cloudflare.fail = () => null;
    await migrate();
    expect(listApplied()).toEqual(["0001_a.sql"]);
  });
});
