import { DurableObject } from "cloudflare:workers";
import { causeOf, type Failure } from "../errors.ts";
import * as ingest from "../ingest/state.ts";
import type { IngestState, PartRef } from "../ingest/state.ts";
import { log } from "../log.ts";
import type { IngestMessage } from "../queues/messages.ts";
import { showState } from "../store/assets.ts";
import type { AssetType, Step } from "../types.ts";
import { migrate } from "./schema.ts";

const SWEEP = 100; // assets looked at by one alarm
const SHOW_AGAIN_MS = 5_000;

interface Row {
  assetId: string;
  state: IngestState;
  revision: number;
}

/**
 * One media index: what happens next to each of its assets, decided by one writer. Intent is stored,
 * and the alarm armed, before a message is sent, so that nothing is lost with the message. Methods
 * return outcomes and don't throw.
 */
export class MediaIndex extends DurableObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    migrate(ctx.storage);
  }

  /** Puts an asset at the start of its pipeline, also one that has failed. `closed`: the index is being deleted. */
  async start(indexId: string, assetId: string, assetType: AssetType): Promise<"ok" | "closed"> {
    if (this.#closed()) return "closed";
    this.ctx.storage.kv.put("indexId", indexId);
    await this.#advance(assetId, ingest.begin(assetType, Date.now()));
    return "ok";
  }

  /** `no`: the part is done, held by another, or not wanted any more. */
  async claim(assetId: string, part: PartRef): Promise<"yes" | "no"> {
    const row = this.#row(assetId);
    const next = row && ingest.claim(row.state, part, Date.now());
    if (!next) return "no";
    await this.#advance(assetId, next);
    return "yes";
  }

  async renew(assetId: string, part: PartRef): Promise<void> {
    const row = this.#row(assetId);
    const next = row && ingest.renew(row.state, part, Date.now());
    if (next) await this.#advance(assetId, next);
  }

  /** `gone`: the asset was deleted meanwhile, and what the step wrote must go too. */
  async complete(assetId: string, part: PartRef, fanOut?: ingest.FanOut): Promise<"ok" | "gone"> {
    const row = this.#row(assetId);
    if (!row) return "gone";
    const next = ingest.complete(row.state, part, fanOut, Date.now());
    if (next) await this.#advance(assetId, next);
    return "ok";
  }

  /** The holder of a part gives it back; the queue brings it again, and the alarm if that fails. */
  async release(assetId: string, part: PartRef, failure: Failure, dueAt: number): Promise<void> {
    const row = this.#row(assetId);
    const next = row && ingest.release(row.state, part, failure, dueAt);
    if (next) await this.#advance(assetId, next);
  }

  /** The queue has tried often enough. */
  async giveUp(assetId: string, part: PartRef): Promise<void> {
    const row = this.#row(assetId);
    const next = row && ingest.giveUp(row.state, part);
    if (next) await this.#advance(assetId, next);
  }

  async fail(assetId: string, step: Step, error: Failure): Promise<"ok" | "gone"> {
    const row = this.#row(assetId);
    if (!row) return "gone";
    const next = ingest.fail(row.state, step, error);
    if (next) await this.#advance(assetId, next);
    return "ok";
  }

  /** Forgets an asset that is being deleted: steps in flight find it gone. */
  async forget(assetId: string): Promise<void> {
    this.ctx.storage.sql.exec("DELETE FROM assets WHERE asset_id = ?", assetId);
  }

  /** Forgets everything, for good: the index is being deleted. */
  async close(): Promise<void> {
    this.ctx.storage.sql.exec("DELETE FROM assets");
    this.ctx.storage.kv.put("closed", true);
    await this.ctx.storage.deleteAlarm();
  }

  /** Asks again for what is overdue, and shows what D1 has missed. */
  override async alarm(): Promise<void> {
    const now = Date.now();
    for (const { assetId, state, revision } of this.#due(now)) {
      const late = ingest.overdue(state, now);
      if (late) {
        log("warn", "ingest.overdue", { asset: assetId, parts: late.ask.length });
        await this.#advance(assetId, late.state, late.ask);
      } else await this.#show({ assetId, state, revision });
    }
    await this.#armAlarm();
  }

  /** Stores the next state, asks for the parts that it begins, and shows it in D1. */
  async #advance(assetId: string, state: IngestState, ask?: PartRef[]): Promise<void> {
    const before = this.#row(assetId);
    const revision = (before?.revision ?? 0) + 1;
    const next: Row = { assetId, state, revision };
    const changed = !before || !looksLike(before.state, state);
    const dueAt = ingest.nextDue(state);
    this.#store(next, changed ? Math.min(dueAt, Date.now() + SHOW_AGAIN_MS) : dueAt);
    await this.#armAlarm();
    await Promise.all([
      this.#send(assetId, ask ?? ingest.newlyAsked(before?.state, state)),
      changed && this.#show(next),
    ]);
  }

  async #send(assetId: string, parts: PartRef[]): Promise<void> {
    const indexId = this.ctx.storage.kv.get<string>("indexId")!;
    const messages = parts.map(({ step, part }): MessageSendRequest<IngestMessage> => {
      return { body: { indexId, assetId, step, part } };
    });
    for (let i = 0; i < messages.length; i += 100) {
      try {
        await this.env.INGEST.sendBatch(messages.slice(i, i + 100));
      } catch (error) {
        log("error", "ingest.not_sent", { asset: assetId, cause: causeOf(error) });
      }
    }
  }

  /** Brings the record that people read up to date; what fails is done again by the alarm. */
  async #show(row: Row): Promise<void> {
    const error = row.state.phase === "failed" ? row.state.error : null;
    const { state, progress } = ingest.shown(row.state);
    try {
      await showState(this.env.DB, row.assetId, { state, progress, error, revision: row.revision });
    } catch (cause) {
      log("error", "ingest.not_shown", { asset: row.assetId, cause: causeOf(cause) });
      return;
    }
    if (this.#row(row.assetId)?.revision === row.revision) {
      this.#store(row, ingest.nextDue(row.state));
    }
  }

  #store({ assetId, state, revision }: Row, dueAt: number): void {
    this.ctx.storage.sql.exec(
      `INSERT INTO assets (asset_id, state, revision, due_at) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT DO UPDATE SET state = ?2, revision = ?3, due_at = ?4`,
      assetId,
      JSON.stringify(state),
      revision,
      dueAt === Infinity ? null : dueAt,
    );
  }

  #row(assetId: string): Row | undefined {
    return this.#rows("WHERE asset_id = ?", assetId)[0];
  }

  #due(now: number): Row[] {
    return this.#rows("WHERE due_at <= ? ORDER BY due_at LIMIT ?", now, SWEEP);
  }

  #rows(where: string, ...bindings: (string | number)[]): Row[] {
    return this.ctx.storage.sql
      .exec<{ asset_id: string; state: string; revision: number }>(
        `SELECT asset_id, state, revision FROM assets ${where}`,
        ...bindings,
      )
      .toArray()
      .map((row) => ({
        assetId: row.asset_id,
        state: JSON.parse(row.state) as IngestState,
        revision: row.revision,
      }));
  }

  #closed(): boolean {
    return this.ctx.storage.kv.get<boolean>("closed") === true;
  }

  async #armAlarm(): Promise<void> {
    const due = this.ctx.storage.sql
      .exec<{ due: number | null }>("SELECT MIN(due_at) AS due FROM assets")
      .one().due;
    if (due === null) return;
    const armed = await this.ctx.storage.getAlarm();
    if (armed === null || armed > due) await this.ctx.storage.setAlarm(due);
  }
}

/** Whether people reading the asset's record would see the same. */
function looksLike(a: IngestState, b: IngestState): boolean {
  const [left, right] = [ingest.shown(a), ingest.shown(b)];
  return left.state === right.state && left.progress === right.progress;
}
