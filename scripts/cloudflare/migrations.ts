import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type CloudflareApi, CloudflareError } from "./api.ts";

/** Longest time for which an import is awaited whose command has failed. */
const IMPORT_SECONDS = 60;
/** Table of the applied migrations, as `wrangler d1 migrations` creates and reads it. */
const LEDGER = "d1_migrations";

export interface MigrationTarget {
  api: CloudflareApi;
  environment: string;
  /** File of the environment, `wrangler.staging.toml` for staging. */
  config: string;
  databaseId: string;
  /** Folder of the migrations. */
  folder: string;
  /** Imports a SQL file into the database. Returns true if it succeeds, and prints why not. */
  importFile: (path: string) => Promise<boolean>;
  log: (line: string) => void;
}

interface DatabaseState {
  /** Statements of all tables, indexes and triggers. */
  schema: string;
  applied: ReadonlySet<string>;
}

/**
 * Applies the migrations that the database doesn't have, each by an import of its own. Throws at
 * the first one that fails, with the state of the database and what to do.
 */
export async function applyMigrations(target: MigrationTarget): Promise<void> {
  let before = await readDatabase(target);
  const pending = (await listMigrations(target.folder)).filter((name) => !before.applied.has(name));
  if (pending.length === 0) target.log("No migration is pending.");
  for (const name of pending) {
    const bookmark = await readBookmark(target);
    target.log(`${name}: the bookmark of the database before it is ${bookmark}`);
    const isImported = await importMigration(target, name);
    const after = await readAfterImport(target);
    if (!after?.applied.has(name)) {
      throw new Error(explainFailure(target, { name, bookmark, before, after }));
    }
    if (!isImported) target.log(`${name} is applied: only the answer was lost.`);
    before = after;
  }
}

/** Lists the names of the migrations. Each begins with a number of four digits. */
async function listMigrations(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
}

async function readDatabase(target: MigrationTarget): Promise<DatabaseState> {
  const objects = await query<{ name: string }>(
    target,
    "SELECT type, name, sql FROM sqlite_master ORDER BY type, name",
  );
  const rows = objects.some(({ name }) => name === LEDGER)
    ? await query<{ name: string }>(target, `SELECT name FROM ${LEDGER}`)
    : [];
  return { schema: JSON.stringify(objects), applied: new Set(rows.map(({ name }) => name)) };
}

async function query<Row>({ api, databaseId }: MigrationTarget, sql: string): Promise<Row[]> {
  type Reply = { results: Row[] }[];
  const [reply] = await api.post<Reply>(`d1/database/${databaseId}/query`, { sql });
  return reply?.results ?? [];
}

async function readBookmark({ api, databaseId }: MigrationTarget): Promise<string> {
  const path = `d1/database/${databaseId}/time_travel/bookmark`;
  return (await api.get<{ bookmark: string }>(path)).bookmark;
}

async function importMigration(
  { folder, importFile }: MigrationTarget,
  name: string,
): Promise<boolean> {
  const temporary = await mkdtemp(join(tmpdir(), "sightline-migration-"));
  try {
    const file = join(temporary, name);
    const sql = await readFile(join(folder, name), "utf8");
    await writeFile(file, toImportFile(name, sql, new Date()));
    return await importFile(file);
  } finally {
    await rm(temporary, { recursive: true });
  }
}

/**
 * Adds the row of the ledger to a migration, so that both are applied or none. The first INSERT
 * fails if the migration was applied meanwhile. The time makes each file a new one: D1 knows files
 * by their hash, and may not run one again.
 */
export function toImportFile(name: string, sql: string, now: Date): string {
  const value = `'${name.replaceAll("'", "''")}'`;
  return `-- ${now.toISOString()}
CREATE TABLE IF NOT EXISTS ${LEDGER} (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT UNIQUE,
  applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
);
INSERT INTO ${LEDGER} (name) SELECT name FROM ${LEDGER} WHERE name = ${value};
${sql}
INSERT INTO ${LEDGER} (name) VALUES (${value});
`;
}

/** Reads the database once no import runs. Returns null if it can't be read. */
async function readAfterImport(target: MigrationTarget): Promise<DatabaseState | null> {
  for (let second = 0; ; second++) {
    try {
      return await readDatabase(target);
    } catch (error) {
      const isBusy = error instanceof CloudflareError && /long-running import/.test(error.message);
      if (!isBusy || second === IMPORT_SECONDS) return null;
      await wait(1000);
    }
  }
}

interface FailedMigration {
  name: string;
  bookmark: string;
  before: DatabaseState;
  /** Null if the database can't be read. */
  after: DatabaseState | null;
}

function explainFailure(
  { environment, config }: MigrationTarget,
  { name, bookmark, before, after }: FailedMigration,
): string {
  const deploy = `npm run deploy -- --env ${environment}`;
  const restore = `npx wrangler d1 time-travel restore DB --bookmark ${bookmark} --config ${config}`;
  if (!after) {
    return `Whether ${name} was applied is unknown: the database can't be read. When it answers, run
again what applies only what is missing:

${deploy}

To return to the state before, which also undoes what the service wrote since then:

${restore}`;
  }
  if (after.schema === before.schema) {
    return `${name} was not applied. The database has the same tables as before: D1 undoes an import
that fails. Correct the file, and run again:

${deploy}

Only if rows have changed, restore the state before first, which also undoes what the service wrote
since then:

${restore}`;
  }
  return `${name} was applied in part: the tables aren't those of before, and it isn't recorded as
applied. Restore the state before, which also undoes what the service wrote since then:

${restore}

Then correct the file, and run again:

${deploy}`;
}
