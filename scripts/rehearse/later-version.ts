import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Name of the table that the later version has in each database. */
export const LATER_TABLE = "rehearsal_notes";

const CREATE = `CREATE TABLE ${LATER_TABLE} (note TEXT NOT NULL) STRICT;`;

/** End of a list of migrations. */
// bounded: a file of ours
const LIST_END = /(_MIGRATIONS = \[\n[^]*?)\n\];\n/;

/** Changes of the source: what the Worker and its objects have, and call, in the later version. */
const CHANGES: readonly (readonly [file: string, find: RegExp | string, replacement: string])[] = [
  ["durable/index-database-schema.ts", LIST_END, withMigration("segments")],
  ["durable/media-index-schema.ts", LIST_END, withMigration("assets")],
  ["durable/model-limiter.ts", LIST_END, withMigration("windows")],
  ["durable/model-limiter.ts", "SELECT calls FROM", "SELECT calls, note FROM"],
  // The Worker composes statements that read the new column.
  ["store/index-database/segments.ts", /(SEGMENT_COLUMNS = `)/, "$1segments.note AS laterNote, "],
  // The Worker calls a method that the objects before don't have.
  [
    "durable/media-index.ts",
    "  /** Leases a part",
    `  async readNote() {
    this.ctx.storage.sql.exec("SELECT note FROM assets").toArray();
  }

  /** Leases a part`,
  ],
  ["queues/ingest.ts", "async claim() {", "async claim() {\n      await index.readNote();"],
];

function withMigration(table: string): string {
  return `$1\n  "${CREATE} ALTER TABLE ${table} ADD COLUMN note TEXT;",\n];\n`;
}

/**
 * Makes a clone into a later version of the service: D1 and each class of Durable Objects get a
 * migration more, and the code needs them.
 */
export async function makeLaterVersion(clone: string): Promise<void> {
  await writeFile(join(clone, "migrations/9000_rehearsal.sql"), `${CREATE}\n`);
  for (const [file, find, replacement] of CHANGES) {
    const path = join(clone, "src", file);
    const text = await readFile(path, "utf8");
    const later = text.replace(find, replacement);
    if (later === text) throw new Error(`${file} has no ${String(find)}.`);
    await writeFile(path, later);
  }
}
