import { DurableObject } from "cloudflare:workers";
import type { LocalEnv } from "./env.ts";
import type { Reply } from "./scripted-chat.ts";

const CHUNK_BYTES = 1_000_000; // a row takes 2 MB, an input with pictures is larger

const SCHEMA = `
CREATE TABLE IF NOT EXISTS scripted (seq INTEGER PRIMARY KEY AUTOINCREMENT, model TEXT, reply TEXT);
CREATE TABLE IF NOT EXISTS asked (seq INTEGER PRIMARY KEY, model TEXT, call INTEGER, bytes BLOB);
CREATE TABLE IF NOT EXISTS cancelled (call INTEGER PRIMARY KEY, model TEXT);
`;

/** What tests wrote for chat models to say, and what came of it. */
export class Scripts extends DurableObject<LocalEnv> {
  readonly #sql: SqlStorage;

  constructor(ctx: DurableObjectState, env: LocalEnv) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
    this.#sql.exec(SCHEMA);
  }

  /** Replaces what was written for the model, and forgets what it was asked. */
  script(model: string, replies: Reply[]): void {
    for (const table of ["scripted", "asked", "cancelled"]) {
      this.#sql.exec(`DELETE FROM ${table} WHERE model = ?`, model);
    }
    for (const reply of replies) {
      const json = JSON.stringify(reply);
      this.#sql.exec("INSERT INTO scripted (model, reply) VALUES (?, ?)", model, json);
    }
  }

  /** The model's next reply, used up; null where none is left. */
  takeReply(model: string): { call: number; reply: Reply } | null {
    const [next] = this.#sql
      .exec<{ seq: number; reply: string }>(
        `DELETE FROM scripted
         WHERE seq = (SELECT min(seq) FROM scripted WHERE model = ?) RETURNING seq, reply`,
        model,
      )
      .toArray();
    return next ? { call: next.seq, reply: JSON.parse(next.reply) } : null;
  }

  noteAsked(model: string, call: number, input: Uint8Array): void {
    for (let at = 0; at < input.length; at += CHUNK_BYTES) {
      this.#sql.exec(
        "INSERT INTO asked (model, call, bytes) VALUES (?, ?, ?)",
        model,
        call,
        input.slice(at, at + CHUNK_BYTES).buffer,
      );
    }
  }

  /** A call of an earlier script isn't counted: its cancel may come late. */
  noteCancelled(call: number): void {
    this.#sql.exec(
      "INSERT INTO cancelled (call, model) SELECT DISTINCT call, model FROM asked WHERE call = ?",
      call,
    );
  }

  /** The JSON of each input, in order. */
  asked(model: string): string[] {
    const rows = this.#sql.exec<{ call: number; bytes: ArrayBuffer }>(
      "SELECT call, bytes FROM asked WHERE model = ? ORDER BY seq",
      model,
    );
    const calls = [...Map.groupBy(rows, ({ call }) => call).values()];
    return calls.map((parts) =>
      Buffer.concat(parts.map(({ bytes }) => Buffer.from(bytes))).toString(),
    );
  }

  cancelled(model: string): number {
    const sql = "SELECT count(*) AS times FROM cancelled WHERE model = ?";
    return this.#sql.exec<{ times: number }>(sql, model).one().times;
  }
}

/** What was written for one call. */
export interface ScriptedCall {
  reply: Reply;
  /** Its reader went before its end. */
  onCancel: () => Promise<void>;
}

/** The next reply for `model`, and a note of what it was asked; null where none is left. */
export async function takeScripted(
  { FAULTS }: Pick<LocalEnv, "FAULTS">,
  model: string,
  inputs: unknown,
): Promise<ScriptedCall | null> {
  const scripts = FAULTS.getByName("faults");
  const taken = await scripts.takeReply(model);
  if (!taken) return null;
  await scripts.noteAsked(model, taken.call, new TextEncoder().encode(JSON.stringify(inputs)));
  return { reply: taken.reply, onCancel: () => scripts.noteCancelled(taken.call) };
}
