import { DurableObject } from "cloudflare:workers";
import type { Reply } from "./scripted-chat.ts";

const CHUNK_BYTES = 1_000_000; // a row holds 2 MB at most; inputs with images are larger

const SCHEMA = `
CREATE TABLE IF NOT EXISTS scripted (seq INTEGER PRIMARY KEY AUTOINCREMENT, model TEXT, reply TEXT);
CREATE TABLE IF NOT EXISTS inputs (seq INTEGER PRIMARY KEY, model TEXT, call INTEGER, bytes BLOB);
CREATE TABLE IF NOT EXISTS cancelled (call INTEGER PRIMARY KEY, model TEXT);
`;

/** Replies that tests scripted for chat models, the inputs they answered and cancelled streams. */
export class ScriptedReplies extends DurableObject<unknown> {
  readonly #sql: SqlStorage;

  constructor(ctx: DurableObjectState, env: unknown) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
    this.#sql.exec(SCHEMA);
  }

  /** Replaces the script of a model and deletes the recorded inputs and cancellations. */
  script(model: string, replies: Reply[]): void {
    for (const table of ["scripted", "inputs", "cancelled"]) {
      this.#sql.exec(`DELETE FROM ${table} WHERE model = ?`, model);
    }
    for (const reply of replies) {
      const json = JSON.stringify(reply);
      this.#sql.exec("INSERT INTO scripted (model, reply) VALUES (?, ?)", model, json);
    }
  }

  /** Consumes the model's next reply; null if there is none. */
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

  recordInput(model: string, call: number, input: Uint8Array): void {
    for (let at = 0; at < input.length; at += CHUNK_BYTES) {
      this.#sql.exec(
        "INSERT INTO inputs (model, call, bytes) VALUES (?, ?, ?)",
        model,
        call,
        input.slice(at, at + CHUNK_BYTES).buffer,
      );
    }
  }

  /** Records a cancelled stream; a late cancel of an earlier script is ignored. */
  recordCancel(call: number): void {
    this.#sql.exec(
      `INSERT INTO cancelled (call, model)
       SELECT DISTINCT call, model FROM inputs WHERE call = ?`,
      call,
    );
  }

  /** Returns the JSON of each input, in order. */
  inputs(model: string): string[] {
    const rows = this.#sql.exec<{ call: number; bytes: ArrayBuffer }>(
      "SELECT call, bytes FROM inputs WHERE model = ? ORDER BY seq",
      model,
    );
    const calls = [...Map.groupBy(rows, ({ call }) => call).values()];
    return calls.map((parts) =>
      Buffer.concat(parts.map(({ bytes }) => Buffer.from(bytes))).toString(),
    );
  }

  countCancelled(model: string): number {
    const sql = "SELECT count(*) AS times FROM cancelled WHERE model = ?";
    return this.#sql.exec<{ times: number }>(sql, model).one().times;
  }
}

/** A scripted reply for one call. */
export interface ScriptedCall {
  reply: Reply;
  /** Runs when the reader cancels the stream before its end. */
  onCancel: () => Promise<void>;
}
