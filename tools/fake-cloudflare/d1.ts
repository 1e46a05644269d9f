import { type Call, Page, type Routes } from "./account.ts";
import { D1Database, type D1Import, QUERY_FAILED } from "./d1-database.ts";
import { Refusal } from "./refusal.ts";

/** Routes of D1: queries, imports and Time Travel. */
export const D1_ROUTES: Routes = [
  ["GET d1/database", ({ account }) => new Page([...account.databases.values()].map(describe))],
  ["POST d1/database", createDatabase],
  ["GET d1/database/([^/]+)", (call) => describe(requireDatabase(call))],
  ["POST d1/database/([^/]+)/query", queryDatabase],
  ["POST d1/database/([^/]+)/raw", queryRaw],
  ["POST d1/database/([^/]+)/import", importFile],
  ["GET d1/database/([^/]+)/time_travel/bookmark", readBookmark],
  ["POST d1/database/([^/]+)/time_travel/restore", restoreDatabase],
];

function describe({ uuid, name }: D1Database): object {
  return { uuid, name, version: "production" };
}

function requireDatabase({ account, params }: Call): D1Database {
  const database = account.findDatabase(params[0] ?? "");
  if (database) return database;
  throw new Refusal(404, 7404, "The database can't be found");
}

function createDatabase({ account, body }: Call): object {
  const name = String(body["name"]);
  if (account.databases.has(name)) throw new Refusal(400, 7502, "Database already exists");
  const location = (body["primary_location_hint"] ?? null) as string | null;
  const database = new D1Database(name, location, account.openDatabase);
  account.databases.set(name, database);
  return describe(database);
}

function queryDatabase(call: Call): object[] {
  const results = requireDatabase(call).query(String(call.body["sql"]));
  return results.map((rows) => ({ results: rows, success: true, meta: { duration: 1 } }));
}

/** Answers as `query` does, with rows as arrays. */
function queryRaw(call: Call): object[] {
  return requireDatabase(call)
    .query(String(call.body["sql"]))
    .map((rows) => ({
      results: { columns: Object.keys(rows[0] ?? {}), rows: rows.map((row) => Object.values(row)) },
      success: true,
      meta: { duration: 1 },
    }));
}

/** Imports a file in four steps: `init`, an upload to the URL that it returns, `ingest`, `poll`. */
function importFile(call: Call): object {
  const database = requireDatabase(call);
  const { action, etag, filename, current_bookmark: bookmark } = call.body;
  switch (action) {
    case "init": {
      const earlier = database.findImport(String(etag));
      if (earlier) return describeImport(earlier);
      const url = `${call.origin}/d1-uploads/${database.uuid}/${String(etag)}.sql`;
      return { success: true, type: "import", filename: `${String(etag)}.sql`, upload_url: url };
    }
    case "ingest":
      if (filename !== `${String(etag)}.sql`) {
        throw new Refusal(400, QUERY_FAILED, "The file wasn't uploaded.");
      }
      return describeImport(database.ingest(String(etag)));
    case "poll": {
      const current = database.poll(String(bookmark));
      if (current) return describeImport(current);
      return { success: false, error: "Not currently importing anything.", messages: [] };
    }
    default:
      throw new Refusal(400, 7400, "The action must be init, ingest or poll.");
  }
}

function describeImport(current: D1Import): object {
  const { bookmark, finalBookmark, left, statements, error } = current;
  const running = { success: true, type: "import", at_bookmark: bookmark, messages: [] };
  if (left > 0) return { ...running, status: "active" };
  if (error !== null) return { ...running, status: "error", errors: [error] };
  const meta = { duration: 1, rows_read: 0, rows_written: 0, size_after: 4096 };
  const result = { num_queries: statements, final_bookmark: finalBookmark, meta };
  return { ...running, status: "complete", result };
}

function readBookmark(call: Call): object {
  return { bookmark: requireDatabase(call).bookmark() };
}

function restoreDatabase(call: Call): object {
  const database = requireDatabase(call);
  const previous = database.bookmark();
  const bookmark = call.query.get("bookmark") ?? "";
  database.restore(bookmark);
  return { bookmark, previous_bookmark: previous, message: "Restored" };
}
