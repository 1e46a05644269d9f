import { DurableObject } from "cloudflare:workers";
import {
  type CallWindow,
  type MetLimit,
  type ModelClass,
  type PermitRequest,
  type Permits,
  takePermits,
} from "../models/call-limiter.ts";
import { sql } from "../store/sql.ts";
import { exec, readObjects } from "./counted-storage.ts";
import { migrate, refuseLaterCallers } from "./migrate.ts";

/** Schema of `ModelLimiter`, forward only and additive (scripts/check-sql.ts). */
export const MODEL_LIMITER_MIGRATIONS = [
  `CREATE TABLE limits_met (
     model  TEXT NOT NULL,
     code   TEXT NOT NULL,
     minute INTEGER NOT NULL, -- since the epoch
     count  INTEGER NOT NULL,
     PRIMARY KEY (model, code, minute)
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE windows (
     model_class TEXT NOT NULL PRIMARY KEY,
     calls       TEXT NOT NULL -- JSON of a CallWindow: one row, so that a request writes one
   ) STRICT, WITHOUT ROWID`,
];

/**
 * Counts the model calls of the whole deployment, which a rate limit binding can't: that counts by
 * location, inexactly, and knows no priorities. The calls of the last minute are stored, because an
 * object loses its memory after 10 idle seconds; those of searches and answers only together with
 * the next ones of background work, since a row written costs a tenth of a search. Calls that met a
 * limit are stored for an hour. A call that runs
 * twice is counted twice, and permits one call less.
 */
export class ModelLimiter extends DurableObject<Env> {
  static {
    refuseLaterCallers(this, "MODEL_LIMITER", MODEL_LIMITER_MIGRATIONS);
  }

  readonly #windows = new Map<ModelClass, CallWindow>();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    migrate(ctx.storage, MODEL_LIMITER_MIGRATIONS);
  }

  /** Takes permits for calls of a model, which share those of its class. Writes at most one row. */
  async take(model: string, modelClass: ModelClass, request: PermitRequest): Promise<Permits> {
    const current = this.#windows.get(modelClass) ?? this.#readWindow(modelClass);
    const { window, ...permits } = takePermits(current, request, Date.now());
    this.#windows.set(modelClass, window);
    if (permits.granted === 0) await this.recordLimit(model, "refused");
    else if (request.priority === "background") this.#writeWindow(modelClass, window);
    return permits;
  }

  /** Counts a call that met a limit: Workers AI's code, or `refused` by this object. */
  async recordLimit(model: string, code: string): Promise<void> {
    const minute = toMinute(Date.now());
    const storage = this.ctx.storage.sql;
    exec(storage, sql`DELETE FROM limits_met WHERE minute <= ${minute - MINUTES_COUNTED}`);
    exec(
      storage,
      sql`INSERT INTO limits_met (model, code, minute, count)
        VALUES (${model}, ${code}, ${minute}, 1)
        ON CONFLICT DO UPDATE SET count = count + 1`,
    );
  }

  /** Lists how many calls met a limit in the last hour, to the minute. */
  async listLimits(): Promise<MetLimit[]> {
    return readObjects<MetLimit>(
      this.ctx.storage.sql,
      sql`SELECT model, code, SUM(count) AS count FROM limits_met
        WHERE minute > ${toMinute(Date.now()) - MINUTES_COUNTED}
        GROUP BY model, code ORDER BY model, code`,
    );
  }

  #readWindow(modelClass: ModelClass): CallWindow {
    const [row] = readObjects<{ calls: string }>(
      this.ctx.storage.sql,
      sql`SELECT calls FROM windows WHERE model_class = ${modelClass}`,
    );
    return row ? JSON.parse(row.calls) : [];
  }

  #writeWindow(modelClass: ModelClass, window: CallWindow): void {
    exec(
      this.ctx.storage.sql,
      sql`INSERT INTO windows (model_class, calls) VALUES (${modelClass}, ${JSON.stringify(window)})
        ON CONFLICT DO UPDATE SET calls = excluded.calls`,
    );
  }
}

const MINUTES_COUNTED = 60;

function toMinute(time: number): number {
  return Math.floor(time / 60_000);
}
