import type { z } from "zod";
import { AppError, causeOf, type ErrorCode } from "../errors.ts";

interface ModelFailure {
  code: ErrorCode;
  /** What the message says of the model. */
  state?: string;
  /** Seconds until a retry can succeed. */
  retryAfter?: () => number;
}

const SPREAD_SECONDS = 25; // over which retries are spread
const MINUTE_SECONDS = 60;
const DAY_SECONDS = 86_400;

/** Failures by the codes that Workers AI puts before a message: `3021: Rate limit exceeded`. */
const FAILURES: Record<string, ModelFailure> = {
  "3006": { code: "model_request_rejected" }, // request too large
  "3007": { code: "upstream_timeout" },
  "3010": { code: "model_request_rejected" }, // invalid input
  "3021": {
    code: "upstream_unavailable",
    state: "has had its calls of this minute",
    retryAfter: () => spread(MINUTE_SECONDS + 5),
  },
  "3036": {
    code: "upstream_unavailable",
    state: "has to wait: the day's neurons of the account are used up",
    retryAfter: () => spread(DAY_SECONDS - ((Date.now() / 1000) % DAY_SECONDS)),
  },
  "3040": {
    code: "upstream_unavailable",
    state: "is out of capacity",
    retryAfter: () => spread(MINUTE_SECONDS / 2),
  },
  "5006": { code: "model_request_rejected" }, // input that its JSON schema doesn't allow
  "5007": { code: "model_not_found" },
  "5024": { code: "model_output_unreadable" }, // JSON mode couldn't be met
  "5025": { code: "model_request_rejected" }, // no JSON schemas with this model
  "5035": { code: "model_not_found" }, // needs a paid plan
};

/** Messages about invalid input that come without a code of `FAILURES`. */
const REJECTION = /\b(?:bad|invalid) (?:input|request|data)\b/i;

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
 * Converts the failure of a call or a stream: to the code in `FAILURES`, else to
 * `model_request_rejected` for invalid input, else to `upstream_failed`. Returns an `AppError`
 * unchanged.
 */
export function toModelError(model: string, cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  const text = causeOf(cause);
  const platformCode = platformCodeOf(text);
  const fallback = REJECTION.test(text) ? "model_request_rejected" : "upstream_failed";
  const failure: ModelFailure = FAILURES[platformCode] ?? { code: fallback };
  const { code, state = "is not available", retryAfter } = failure;
  const hint = code === "model_not_found" ? missingModelHint(text) : "";
  const message = `The model ${model} ${state} (${platformCode || "no code"}).${hint}`;
  return new AppError(code, message, { cause, ...(retryAfter && { retryAfter: retryAfter() }) });
}

/** Returns the code of a failure by a limit of Workers AI, which passes by itself; else null. */
export function limitCodeOf(cause: unknown): string | null {
  const code = platformCodeOf(causeOf(cause));
  return FAILURES[code]?.retryAfter ? code : null;
}

function platformCodeOf(text: string): string {
  return /\b(\d{4}): /.exec(text)?.[1] ?? "";
}

/** Says what to do about a model that the platform doesn't offer, as far as it tells. */
function missingModelHint(text: string): string {
  const [, told] = /\b5007: No such model [^.]* or task\. (.{1,300})/.exec(text) ?? [];
  return ` ${told ?? "The operator of this deployment can choose another: docs/models.md."}`;
}

/** Makes the error of a call that the deployment's own limiter refuses for `seconds`. */
export function callLimitError(model: string, seconds: number): AppError {
  const message = `The model ${model} has had the calls of a minute that background work may make.`;
  return new AppError("upstream_unavailable", message, { retryAfter: spread(seconds) });
}

/** Adds a random part to a wait, so that work that was refused together doesn't return together. */
function spread(seconds: number): number {
  return Math.ceil(seconds + Math.random() * SPREAD_SECONDS);
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
