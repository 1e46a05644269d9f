import { DurableObject } from "cloudflare:workers";
import type { LocalEnv } from "./env.ts";

/** A documented failure of Workers AI, a late answer, or an answer that doesn't have its shape. */
export type Fault = "3036" | "3040" | "3007" | "malformed" | `slow:${number}`;

/** Failures that tests asked for, by model, in the order they were asked for. */
export class Faults extends DurableObject<LocalEnv> {
  constructor(ctx: DurableObjectState, env: LocalEnv) {
    super(ctx, env);
    ctx.storage.sql.exec(
      "CREATE TABLE IF NOT EXISTS faults (seq INTEGER PRIMARY KEY, model TEXT, fault TEXT, times INTEGER)",
    );
  }

  add(model: string, fault: Fault, times: number): void {
    this.ctx.storage.sql.exec(
      "INSERT INTO faults (model, fault, times) VALUES (?, ?, ?)",
      model,
      fault,
      times,
    );
  }

  /** The next fault of this model, used up once; null where none is left. */
  take(model: string): Fault | null {
    const { sql } = this.ctx.storage;
    const [next] = sql
      .exec<{ seq: number; fault: Fault }>(
        "SELECT seq, fault FROM faults WHERE model = ? ORDER BY seq LIMIT 1",
        model,
      )
      .toArray();
    if (!next) return null;
    sql.exec("UPDATE faults SET times = times - 1 WHERE seq = ?", next.seq);
    sql.exec("DELETE FROM faults WHERE times <= 0");
    return next.fault;
  }
}
