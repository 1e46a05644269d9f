import { DurableObject } from "cloudflare:workers";
import type { MetLimit, ModelClass } from "../models/call-limiter.ts";
import {
  type CallWindow,
  type PermitRequest,
  type Permits,
  takePermits,
} from "../models/call-window.ts";
import { migrate } from "./migrate.ts";

/**
 * Counts the model calls of the whole deployment, which a rate limit binding can't: that counts by
 * location, inexactly, and knows no priorities. Calls are counted in memory only: a window lasts a
 * minute, and the object is evicted only after more than a minute without calls. Those that met a
 * limit are stored for an hour.
 */
export class ModelLimiter extends DurableObject<Env> {
  readonly #windows = new Map<ModelClass, CallWindow>();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    migrate(ctx.storage, MIGRATIONS);
  }

  /** Takes permits for calls of a model, which share those of its class. */
  async take(model: string, modelClass: ModelClass, request: PermitRequest): Promise<Permits> {
    const current = this.#windows.get(modelClass) ?? [];
    const { window, ...permits } = takePermits(current, request, Date.now());
    this.#windows.set(modelClass, window);
    if (permits.granted === 0) await this.recordLimit(model, "refused");
    return permits;
  }

  /** Counts a call that met a limit: Workers AI's code, or `refused` by this object. */
  async recordLimit(model: string, code: string): Promise<void> {
    const minute = toMinute(Date.now());
    const { sql } = this.ctx.storage;
    sql.exec("DELETE FROM limits_met WHERE minute <= ?", minute - MINUTES_COUNTED);
    sql.exec(
      `INSERT INTO limits_met (model, code, minute, count) VALUES (?, ?, ?, 1)
       ON CONFLICT DO UPDATE SET count = count + 1`,
      model,
      code,
      minute,
    );
  }

  /** Lists how many calls met a limit in the last hour, to the minute. */
  async listLimits(): Promise<MetLimit[]> {
    return this.ctx.storage.sql
      .exec<MetLimit>(
        `SELECT model, code, SUM(count) AS count FROM limits_met WHERE minute > ?
         GROUP BY model, code ORDER BY model, code`,
        toMinute(Date.now()) - MINUTES_COUNTED,
      )
      .toArray();
  }
}

const MINUTES_COUNTED = 60;

const MIGRATIONS = [
  `CREATE TABLE limits_met (
     model  TEXT NOT NULL,
     code   TEXT NOT NULL,
     minute INTEGER NOT NULL, -- since the epoch
     count  INTEGER NOT NULL,
     PRIMARY KEY (model, code, minute)
   ) STRICT, WITHOUT ROWID`,
];

function toMinute(time: number): number {
  return Math.floor(time / 60_000);
}
