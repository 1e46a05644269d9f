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
  "3008": { code: "upstream_timeout", state: "had its call cancelled" },
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
 * Messages about too many or too long inputs. Their codes differ: `3006: Request is too large`,
 * `3030: Max context reached 85920 tokens but model supports only 60000`, `5021: The estimated
 * number of … tokens (8810) exceeded this model context window limit (8192)`.
 */
const OVERSIZE =
  /\b(?:413|3006|5021): |\btoo (?:large|long|many)\b|\bmax(?:imum)? context\b|\bcontext (?:window|length)\b/i;

/** Options of `env.AI.run`. The types lack `rejectIfBusy`, which fails instead of waiting. */
export type RunOptions = AiOptions & { rejectIfBusy?: boolean };

/**
 * Calls a model that doesn't stream; `generate` is for those that do. Cancels the call and throws
 * `upstream_timeout` after `timeoutMs`. Throws `upstream_failed` if the response doesn't match
 * `schema`, and the errors of `callModel`.
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
    const parsed = schema.safeParse(await callModel(ai, model, input, timeout.signal));
    if (parsed.success) return parsed.data;
    throw invalidResponseError(model, parsed.error);
  } finally {
    timeout.clear();
  }
}

/**
 * Calls a model. When `signal` aborts, cancels the call, or the stream that it has returned, and
 * throws the signal's reason. Else throws the error of `toModelError`.
 */
export async function callModel(
  ai: Ai,
  model: string,
  input: Record<string, unknown>,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    return await ai.run(model as keyof AiModels, input as never, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw toModelError(model, error);
  }
}

/** Wraps the AI binding so that all its calls are cancelled when `signal` aborts. */
export function cancelCalls(ai: Ai, signal: AbortSignal): Ai {
  const run = (model: keyof AiModels, input: object, options: RunOptions = {}) =>
    ai.run(model, input, {
      ...options,
      signal: options.signal ? AbortSignal.any([options.signal, signal]) : signal,
    });
  return Object.create(ai, { run: { value: run } }) as Ai;
}

/**
 * Converts the failure of a call or a stream: to the code in `FAILURES`, else to
 * `model_request_rejected` for invalid input, else to `upstream_failed`. Returns an `AppError`
 * unchanged.
 */
export function toModelError(model: string, cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  const text = causeOf(cause);
  const isCancelled = cause instanceof Error && cause.name === "AbortError";
  const platformCode = isCancelled ? "3008" : platformCodeOf(text);
  const isRejection = REJECTION.test(text) || OVERSIZE.test(text);
  const fallback = isRejection ? "model_request_rejected" : "upstream_failed";
  const failure: ModelFailure = FAILURES[platformCode] ?? { code: fallback };
  const { code, state = "is not available", retryAfter } = failure;
  const hint = code === "model_not_found" ? missingModelHint(text) : "";
  const message = `The model ${model} ${state} (${platformCode || "no code"}).${hint}`;
  return new AppError(code, message, { cause, ...(retryAfter && { retryAfter: retryAfter() }) });
}

/** Whether a model refused its input for its size, so that a part of it may be taken. */
export function isOversize(error: unknown): boolean {
  const isRejected = error instanceof AppError && error.code === "model_request_rejected";
  return isRejected && OVERSIZE.test(causeOf(error.cause));
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
