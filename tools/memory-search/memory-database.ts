import { INDEX_DATABASE_MIGRATIONS } from "../../src/durable/index-database-schema.ts";
import type { IndexDatabase } from "../../src/durable/index-database.ts";
import { providePlatformClasses } from "../platform-classes.ts";
import { memoryState } from "./memory-state.ts";

/** Opens the empty database of an index in memory. */
export async function openMemoryDatabase(): Promise<IndexDatabase> {
  providePlatformClasses();
  const { IndexDatabase: Database } = await import("../../src/durable/index-database.ts");
  return new Database(memoryState(INDEX_DATABASE_MIGRATIONS), {} as Env);
}

/** Returns a binding that has this database only. */
export function bindingOf(database: IndexDatabase): Env["INDEX_DATABASE"] {
  return { getByName: () => database } as unknown as Env["INDEX_DATABASE"];
}
