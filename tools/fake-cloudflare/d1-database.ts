import { createHash, randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { splitStatements } from "../sql-statements.ts";
import { splitQuery } from "./d1-query.ts";
import { Refusal } from "./refusal.ts";

export const QUERY_FAILED = 7500;
const MAX_STATEMENT_BYTES = 100_000;
/** With so many triggers, a query failed whose file could be imported: #15178. */
const TOO_MANY_TRIGGERS = 21;
/** Requests that an import outlives. */
const IMPORT_REQUESTS = 2;

export interface D1Import {
  /** Bookmark of the content before. */
  bookmark: string;
  finalBookmark: string;
  /** Requests until it is complete. */
  left: number;
  statements: number;
  error: string | null;
}

/** Opens the SQLite database of a D1 database by its id. */
export type OpenDatabase = (uuid: string) => DatabaseSync;

export const openInMemory: OpenDatabase = () => new DatabaseSync(":memory:");

/** A database of D1: SQLite with the API's ways to run statements on it. */
export class D1Database {
  readonly uuid: string;
  readonly name: string;
  readonly location: string | null;
  /** Content of the database. A restore replaces it. */
  readonly sqlite: DatabaseSync;
  /** False makes an import that fails keep what it did before, which D1 is said not to do. */
  undoesFailedImports = true;
  /** SQL by its MD5 hash. */
  readonly #uploads = new Map<string, string>();
  readonly #imports = new Map<string, D1Import>();
  readonly #snapshots = new Map<string, Uint8Array>();
  #import: D1Import | null = null;
  #changes = 0;

  constructor(name: string, location: string | null, openDatabase: OpenDatabase = openInMemory) {
    this.uuid = randomUUID();
    this.name = name;
    this.location = location;
    this.sqlite = openDatabase(this.uuid);
  }

  /**
   * Runs a query and returns the rows of each statement. If one fails, those before it stay done:
   * the reports don't agree on this.
   */
  query(sql: string): Record<string, unknown>[][] {
    if (this.#advanceImport()) {
      throw new Refusal(400, QUERY_FAILED, "Currently processing a long-running import.");
    }
    const triggers = splitStatements(sql).filter(({ isTrigger }) => isTrigger);
    if (triggers.length >= TOO_MANY_TRIGGERS) {
      throw new Refusal(400, QUERY_FAILED, "incomplete input: SQLITE_ERROR");
    }
    return splitQuery(sql).map((piece) => this.#run(piece));
  }

  #run(sql: string): Record<string, unknown>[] {
    const [statement, another] = splitStatements(sql);
    const refuse = (message: string): never => {
      throw new Refusal(400, QUERY_FAILED, message);
    };
    if (!statement) return refuse("SQL code did not contain a statement.");
    if (another) return refuse("A prepared SQL statement must contain only one statement.");
    if (Buffer.byteLength(sql) > MAX_STATEMENT_BYTES) {
      return refuse("statement too long: SQLITE_TOOBIG");
    }
    if (/^(BEGIN|COMMIT|END|ROLLBACK|SAVEPOINT|RELEASE)\b/i.test(statement.text)) {
      return refuse("To execute a transaction, please use the state.storage.transaction() API.");
    }
    try {
      const rows = this.sqlite.prepare(statement.text).all();
      if (!/^(SELECT|PRAGMA|EXPLAIN)\b/i.test(statement.text)) {
        this.#changes++;
      }
      return rows;
    } catch (error) {
      return refuse(`${error instanceof Error ? error.message : String(error)}: SQLITE_ERROR`);
    }
  }

  /** Begins an import of an uploaded file. It runs as a whole or not at all. */
  ingest(etag: string): D1Import {
    const sql = this.#uploads.get(etag);
    if (sql === undefined) throw new Refusal(400, QUERY_FAILED, "The file wasn't uploaded.");
    if (this.#advanceImport()) {
      throw new Refusal(400, QUERY_FAILED, "Currently processing a long-running import.");
    }
    const snapshot = this.sqlite.serialize();
    const bookmark = this.bookmark();
    const statements = splitStatements(sql);
    let error: string | null = null;
    try {
      for (const { text } of statements) this.#run(text);
    } catch (refusal) {
      error = (refusal as Refusal).message;
      if (this.undoesFailedImports) this.sqlite.deserialize(snapshot);
    }
    const finalBookmark = this.bookmark();
    const left = IMPORT_REQUESTS;
    this.#import = { bookmark, finalBookmark, left, statements: statements.length, error };
    this.#imports.set(etag, this.#import);
    return this.#import;
  }

  upload(bytes: Uint8Array): string {
    const etag = createHash("md5").update(bytes).digest("hex");
    this.#uploads.set(etag, new TextDecoder().decode(bytes));
    return etag;
  }

  /** Returns the import of a file. It isn't repeated: what D1 does is unknown. */
  findImport(etag: string): D1Import | undefined {
    return this.#imports.get(etag);
  }

  /** Returns the import that began at a bookmark, one request nearer to its end. */
  poll(bookmark: string): D1Import | null {
    this.#advanceImport();
    return this.#import?.bookmark === bookmark ? this.#import : null;
  }

  /** Returns true while an import runs. */
  #advanceImport(): boolean {
    if (!this.#import || this.#import.left === 0) return false;
    this.#import.left--;
    return this.#import.left > 0;
  }

  /** Returns the bookmark of the present content, to which Time Travel can return. */
  bookmark(): string {
    const id = this.#changes.toString(16).padStart(8, "0");
    const bookmark = `${id}-00000000-00004e2f-${this.uuid.replaceAll("-", "")}`;
    this.#snapshots.set(bookmark, this.sqlite.serialize());
    return bookmark;
  }

  /** Returns to a bookmark. Throws if there is no such bookmark. */
  restore(bookmark: string): void {
    const snapshot = this.#snapshots.get(bookmark);
    if (!snapshot) throw new Refusal(400, 7507, "The bookmark is invalid.");
    this.sqlite.deserialize(snapshot);
    this.#changes++;
  }
}
