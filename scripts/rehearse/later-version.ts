import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Name of the table that the later version has in each database. */
export const LATER_TABLE = "rehearsal_notes";

const SCHEMAS = ["index-database-schema.ts", "media-index-schema.ts"];
const CREATE = `CREATE TABLE ${LATER_TABLE} (note TEXT NOT NULL) STRICT;`;

/**
 * Makes a clone into a later version of the service: D1 and each class of Durable Objects with a
 * schema get a migration more.
 */
export async function makeLaterVersion(clone: string): Promise<void> {
  await writeFile(join(clone, "migrations/9000_rehearsal.sql"), `${CREATE}\n`);
  for (const name of SCHEMAS) {
    const path = join(clone, "src/durable", name);
    const text = await readFile(path, "utf8");
    const later = text.replace(/\n\];\n$/, `\n  "${CREATE}",\n];\n`);
    if (later === text) throw new Error(`${name} doesn't end with its list of migrations.`);
    await writeFile(path, later);
  }
}
