import type { z } from "zod";
import { AppError, causeOf, type ErrorCode } from "../errors.ts";

/** Workers AI puts its own code in front of the message: `3040: Capacity temporarily exceeded`. */
const CODES: Record<string, ErrorCode> = {
  "3006": "model_refused", // request too large
  "3007": "upstream_timeout",
  "3036": "upstream_unavailable", // daily quota
  "3040": "upstream_unavailable", // out of capacity
  "3010": "model_refused", // an input it can't read
  "5007": "model_missing",
  "5035": "model_missing", // needs a paid plan
};

/**
 * One model call that answers at once; `generate` is for those that stream. Throws
 * `upstream_timeout` after `timeoutMs`, `upstream_failed` where the answer hasn't the shape of
 * `schema`, and the code of `CODES` where the platform gives one.
 */
export async function runModel<Schema extends z.ZodType>(
  ai: Ai,
  model: string,
  input: Record<string, unknown>,
  schema: Schema,
  timeoutMs: number,
): Promise<z.output<Schema>> {
  const limit = limitTime(model, timeoutMs);
  try {
    const answer = await unlessAborted(limit.signal, callModel(ai, model, input));
    const parsed = schema.safeParse(answer);
    if (parsed.success) return parsed.data;
    throw unknownShape(model, parsed.error);
  } finally {
    limit.clear();
  }
}

/** The model's answer as it comes. Throws as `modelFailure` says; it waits for as long as it takes. */
export async function callModel(
  ai: Ai,
  model: string,
  input: Record<string, unknown>,
): Promise<unknown> {
  try {
    return await ai.run(model as keyof AiModels, input as never);
  } catch (error) {
    throw modelFailure(model, error);
  }
}

/** What a call, or the stream that it answers with, failed of: the code of `CODES`, else `upstream_failed`. */
export function modelFailure(model: string, cause: unknown): AppError {
  const platformCode = /\b(\d{4}): /.exec(causeOf(cause))?.[1] ?? "";
  const code = CODES[platformCode] ?? "upstream_failed";
  const message = `The model ${model} is not available (${platformCode || "no code"}).`;
  return new AppError(code, message, { cause });
}

export function unknownShape(model: string, cause?: unknown): AppError {
  const message = `The model ${model} answered in an unknown shape.`;
  return new AppError("upstream_failed", message, { cause });
}

/** A signal that aborts with `upstream_timeout` after `ms`, unless it is cleared before. */
export function limitTime(model: string, ms: number): { signal: AbortSignal; clear: () => void } {
  const controller = new AbortController();
  const message = `The model ${model} took over ${ms} ms.`;
  const timer = setTimeout(() => controller.abort(new AppError("upstream_timeout", message)), ms);
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}

/** What `work` gives, or the signal's reason thrown as soon as it aborts. */
export async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
