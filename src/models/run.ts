import type { z } from "zod";
import { AppError, causeOf, type ErrorCode } from "../errors.ts";

/**
 * Error codes by those that Workers AI puts before a message: `3040: Capacity temporarily
 * exceeded`.
 */
const CODES: Record<string, ErrorCode> = {
  "3006": "model_request_rejected", // request too large
  "3007": "upstream_timeout",
  "3036": "upstream_unavailable", // daily quota
  "3040": "upstream_unavailable", // out of capacity
  "3010": "model_request_rejected", // invalid input
  "5007": "model_not_found",
  "5035": "model_not_found", // needs a paid plan
};

/**
 * Calls a model that doesn't stream; `generate` is for those that do. Throws `upstream_timeout`
 * after `timeoutMs`, `upstream_failed` if the response doesn't match `schema`, and the errors of
 * `callModel`.
 */
export async function runModel<Schema extends z.ZodType>(
  ai: Ai,
  model: string,
  input: Record<string, unknown>,
  schema: Schema,
  timeoutMs: number,
): Promise<z.output<Schema>> {
  const timeout = startTimeout(model, timeoutMs);
  try {
    const response = await raceAbort(timeout.signal, callModel(ai, model, input));
    const parsed = schema.safeParse(response);
    if (parsed.success) return parsed.data;
    throw invalidResponseError(model, parsed.error);
  } finally {
    timeout.clear();
  }
}

/** Calls a model without a time limit. Throws the error of `toModelError`. */
export async function callModel(
  ai: Ai,
  model: string,
  input: Record<string, unknown>,
): Promise<unknown> {
  try {
    return await ai.run(model as keyof AiModels, input as never);
  } catch (error) {
    throw toModelError(model, error);
  }
}

/**
 * Converts the failure of a call or a stream: to the code of `CODES`, else to `upstream_failed`.
 */
export function toModelError(model: string, cause: unknown): AppError {
  const platformCode = /\b(\d{4}): /.exec(causeOf(cause))?.[1] ?? "";
  const code = CODES[platformCode] ?? "upstream_failed";
  const message = `The model ${model} is not available (${platformCode || "no code"}).`;
  return new AppError(code, message, { cause });
}

export function invalidResponseError(model: string, cause?: unknown): AppError {
  const message = `The model ${model} returned an invalid response.`;
  return new AppError("upstream_failed", message, { cause });
}

/** Returns a signal that aborts with `upstream_timeout` after `ms`, unless it is cleared before. */
export function startTimeout(
  model: string,
  ms: number,
): { signal: AbortSignal; clear: () => void } {
  const controller = new AbortController();
  const message = `The model ${model} took over ${ms} ms.`;
  const timer = setTimeout(() => controller.abort(new AppError("upstream_timeout", message)), ms);
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}

/** Awaits `work`. Throws the reason of `signal` as soon as that aborts; `work` goes on. */
export async function raceAbort<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
