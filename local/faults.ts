import { JSON_FORMS, type JsonForm } from "./json-format.ts";
import { type ScriptedCall, ScriptedReplies } from "./scripted-replies.ts";

export interface FaultsEnv {
  FAULTS: DurableObjectNamespace<Faults>;
}

/** A delay in milliseconds. */
type Slow = `slow:${number}`;
/**
 * Ways to damage a chat's reply: its first half, as at the token limit; in a code fence; within
 * prose.
 */
type ReplyFault = "cut" | "fenced" | "prose";
/** A documented error of Workers AI, a malformed response or a delay. */
export type AiFault =
  | "3021"
  | "3036"
  | "3040"
  | "3007"
  | "5006"
  | "5007"
  | "5024"
  | "malformed"
  | ReplyFault
  | Slow;
/** An error of Media Transformations (9599 is an unknown one), a malformed output or a delay. */
export type MediaFault =
  | "9401"
  | "9412"
  | "9422"
  | "9504"
  | "9516"
  | "9522"
  | "9523"
  | "9599"
  | "malformed"
  | Slow;
/** An error of the Images binding (9599 is an unknown one), or a delay. */
export type ImagesFault =
  | "422"
  | "9401"
  | "9402"
  | "9412"
  | "9422"
  | "9516"
  | "9520"
  | "9522"
  | "9523"
  | "9599"
  | Slow;
type Fault = AiFault | MediaFault | ImagesFault;

/**
 * Faults that tests injected, by target (a model or a binding) and in order, and the scripted
 * replies of chat models.
 */
export class Faults extends ScriptedReplies {
  constructor(ctx: DurableObjectState, env: unknown) {
    super(ctx, env);
    ctx.storage.sql.exec(
      `CREATE TABLE IF NOT EXISTS pending
         (seq INTEGER PRIMARY KEY, target TEXT, fault TEXT, times INTEGER)`,
    );
    ctx.storage.sql.exec(
      "CREATE TABLE IF NOT EXISTS json_forms (model TEXT PRIMARY KEY, forms TEXT)",
    );
  }

  /** Sets the forms of a request for JSON that a model accepts. */
  setJsonForms(model: string, forms: readonly JsonForm[]): void {
    this.ctx.storage.sql.exec(
      "INSERT OR REPLACE INTO json_forms (model, forms) VALUES (?, ?)",
      model,
      JSON.stringify(forms),
    );
  }

  /** Returns the forms of a request for JSON that a model accepts: all, unless they were set. */
  jsonForms(model: string): readonly JsonForm[] {
    const [row] = this.ctx.storage.sql
      .exec<{ forms: string }>("SELECT forms FROM json_forms WHERE model = ?", model)
      .toArray();
    return row ? JSON.parse(row.forms) : JSON_FORMS;
  }

  add(target: string, fault: Fault, times: number): void {
    this.ctx.storage.sql.exec(
      "INSERT INTO pending (target, fault, times) VALUES (?, ?, ?)",
      target,
      fault,
      times,
    );
  }

  clear(target: string): void {
    this.ctx.storage.sql.exec("DELETE FROM pending WHERE target = ?", target);
  }

  /** Consumes one use of the next fault of a target; null if there is none. */
  take(target: string): Fault | null {
    const { sql } = this.ctx.storage;
    const [next] = sql
      .exec<{ seq: number; fault: Fault }>(
        "SELECT seq, fault FROM pending WHERE target = ? ORDER BY seq LIMIT 1",
        target,
      )
      .toArray();
    if (!next) return null;
    sql.exec("UPDATE pending SET times = times - 1 WHERE seq = ?", next.seq);
    sql.exec("DELETE FROM pending WHERE times <= 0");
    return next.fault;
  }
}

/** Makes the next `times` calls of `target` fail. */
export async function addFault(
  { FAULTS }: FaultsEnv,
  target: string,
  fault: Fault,
  times: number,
): Promise<void> {
  await FAULTS.getByName("faults").add(target, fault, times);
}

/**
 * Consumes the next fault of `target`: a code, `malformed` or null. A delay is waited for: null.
 */
export async function takeFault({ FAULTS }: FaultsEnv, target: string): Promise<string | null> {
  const fault = await FAULTS.getByName("faults").take(target);
  if (!fault?.startsWith("slow:")) return fault;
  await scheduler.wait(Number(fault.slice("slow:".length)));
  return null;
}

/** Consumes the next scripted reply of `model` and records its inputs; null if there is none. */
export async function takeScripted(
  { FAULTS }: FaultsEnv,
  model: string,
  inputs: unknown,
): Promise<ScriptedCall | null> {
  const scripts = FAULTS.getByName("faults");
  const scripted = await scripts.takeReply(model);
  if (!scripted) return null;
  const { call, reply } = scripted;
  await scripts.recordInput(model, call, new TextEncoder().encode(JSON.stringify(inputs)));
  return { reply, onCancel: () => scripts.recordCancel(call) };
}
