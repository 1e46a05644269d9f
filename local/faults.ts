import { ERROR_SHAPES, type ErrorShape } from "./engine-client.ts";
import type { JsonForm } from "./json-format.ts";
import { type ScriptedCall, ScriptedReplies } from "./scripted-replies.ts";

export interface FaultsEnv {
  FAULTS: DurableObjectNamespace<Faults>;
}

const BODY_LENGTH = "x-body-length";

/** Options of `AI.run` that the stand-in knows. */
export interface CallOptions {
  signal?: AbortSignal;
  /** Fails instead of waiting for capacity. */
  rejectIfBusy?: boolean;
}

/** How a model behaves in a test, where production's isn't documented. */
export interface Behaviour {
  /** Forms of a request for JSON that it takes: all by default. */
  jsonForms: JsonForm[];
  /** Refusal of a batch of more than `maxTexts` texts, besides the limits of the model. */
  batchLimit: { maxTexts: number; refusal: string };
}

/** A delay in milliseconds. */
type Slow = `slow:${number}`;
/** A wait for capacity in milliseconds, which `rejectIfBusy` refuses with 3040. */
type Busy = `busy:${number}`;
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
  | Busy
  | Slow;
/** The code of an error, alone or with the shape in which it arrives: `9412 coded`. */
type Coded<Code extends string> = Code | `${Code} ${ErrorShape}`;
/** An error of Media Transformations (9599 is an unknown one), a malformed output or a delay. */
export type MediaFault =
  | Coded<"9401" | "9412" | "9422" | "9504" | "9516" | "9517" | "9522" | "9523" | "9599">
  | "malformed"
  | Slow;
/** An error of the Images binding (9599 is an unknown one), or a delay. */
export type ImagesFault =
  | Coded<
      | "422"
      | "9401"
      | "9402"
      | "9412"
      | "9422"
      | "9516"
      | "9517"
      | "9520"
      | "9522"
      | "9523"
      | "9599"
    >
  | Slow;
type Fault = AiFault | MediaFault | ImagesFault;

/**
 * Faults that tests injected, by target (a model or a binding) and in order, how models behave, and
 * the scripted replies of chat models.
 */
export class Faults extends ScriptedReplies {
  constructor(ctx: DurableObjectState, env: unknown) {
    super(ctx, env);
    ctx.storage.sql.exec(
      `CREATE TABLE IF NOT EXISTS pending
         (seq INTEGER PRIMARY KEY, target TEXT, fault TEXT, times INTEGER)`,
    );
    ctx.storage.sql.exec(
      `CREATE TABLE IF NOT EXISTS behaviour
         (model TEXT, name TEXT, value TEXT, PRIMARY KEY (model, name))`,
    );
    ctx.storage.sql.exec(
      "CREATE TABLE IF NOT EXISTS cancelled_calls (model TEXT PRIMARY KEY, times INTEGER)",
    );
  }

  /** Sets how a model behaves until it is set again; null resets it. */
  setBehaviour<Name extends keyof Behaviour>(
    model: string,
    name: Name,
    value: Behaviour[Name] | null,
  ): void {
    this.ctx.storage.sql.exec(
      "INSERT OR REPLACE INTO behaviour (model, name, value) VALUES (?, ?, ?)",
      model,
      name,
      JSON.stringify(value),
    );
  }

  /** Returns how a model behaves, where that was set. */
  behaviour(model: string): Partial<Behaviour> {
    const rows = this.ctx.storage.sql
      .exec<{ name: string; value: string }>(
        "SELECT name, value FROM behaviour WHERE model = ? AND value <> 'null'",
        model,
      )
      .toArray();
    return Object.fromEntries(rows.map(({ name, value }) => [name, JSON.parse(value)]));
  }

  recordCancelledCall(model: string): void {
    this.ctx.storage.sql.exec(
      `INSERT INTO cancelled_calls (model, times) VALUES (?, 1)
       ON CONFLICT DO UPDATE SET times = times + 1`,
      model,
    );
  }

  /** Counts the calls of a model that were cancelled, and forgets them. */
  takeCancelledCalls(model: string): number {
    const sql = "DELETE FROM cancelled_calls WHERE model = ? RETURNING times";
    return this.ctx.storage.sql.exec<{ times: number }>(sql, model).toArray()[0]?.times ?? 0;
  }

  add(target: string, fault: Fault, times: number): void {
    this.ctx.storage.sql.exec(
      "INSERT INTO pending (target, fault, times) VALUES (?, ?, ?)",
      target,
      fault,
      times,
    );
  }

  /**
   * Returns the body, as across any call of another service. Its length is a header of the request
   * if it is known there: that of a `FixedLengthStream`, a `Blob` or a response.
   */
  override fetch({ body, headers }: Request): Response {
    const length = headers.get("content-length");
    return new Response(body, length === null ? {} : { headers: { [BODY_LENGTH]: length } });
  }

  /** Removes the faults of a target. Returns how many calls they would have met. */
  clear(target: string): number {
    const { sql } = this.ctx.storage;
    const removed = sql.exec<{ times: number }>(
      "DELETE FROM pending WHERE target = ? RETURNING times",
      target,
    );
    return removed.toArray().reduce((sum, { times }) => sum + times, 0);
  }

  /** Counts the calls that the faults of a target have yet to meet. */
  countPending(target: string): number {
    const sql = "SELECT COALESCE(SUM(times), 0) AS times FROM pending WHERE target = ?";
    return this.ctx.storage.sql.exec<{ times: number }>(sql, target).one().times;
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

/**
 * Passes a stream to another service and back. Returns it with its length in bytes, or null if that
 * gets lost.
 */
export async function passStream(
  { FAULTS }: FaultsEnv,
  stream: ReadableStream<Uint8Array>,
): Promise<{ body: ReadableStream<Uint8Array>; length: number } | null> {
  const request = { method: "POST", body: stream };
  const { body, headers } = await FAULTS.getByName("faults").fetch("http://faults", request);
  const length = headers.get(BODY_LENGTH);
  if (body && length !== null) return { body, length: Number(length) };
  await body?.cancel();
  return null;
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
export async function takeFault(
  { FAULTS }: FaultsEnv,
  target: string,
  { signal, rejectIfBusy = false }: CallOptions = {},
): Promise<string | null> {
  const fault = await FAULTS.getByName("faults").take(target);
  const [kind, ms] = fault?.split(":") ?? [];
  if (kind === "busy" && rejectIfBusy) return "3040";
  if (ms === undefined) return fault;
  await wait(Number(ms), signal);
  return null;
}

/** Waits; throws the reason of `signal` when that aborts. */
async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal?.addEventListener("abort", () => {
    clearTimeout(timer);
    reject(signal.reason as Error);
  });
  return promise;
}

/** Makes the error of a fault, such as `9412` or `9412 coded`. */
export function toInjectedError(
  fault: string,
  toError: (code: number, message: string, shape?: ErrorShape) => Error,
): Error {
  const [code, name] = fault.split(" ");
  const shape = ERROR_SHAPES.find((known) => known === name);
  return toError(Number(code), "injected", shape);
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
