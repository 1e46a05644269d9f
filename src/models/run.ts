import type * as z from "zod";
import { MODELS } from "../config.ts";
import { type Count, countOf } from "../counts.ts";
import { AppError, causeOf, type ErrorCode } from "../errors.ts";
import { append } from "../lists.ts";

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
    const response = await callModel(ai, model, input, timeout.signal);
    countResponse(countOf(ai), model, input, response);
    const parsed = schema.safeParse(response);
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
  // bounded: a message of the platform
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
export function startTimeout(model: string, ms: number) {
  const controller = new AbortController();
  const message = `The model ${model} took over ${ms} ms.`;
  const timer = setTimeout(() => controller.abort(new AppError("upstream_timeout", message)), ms);
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}

/** Encodes a JPEG as a `data:` URL, the form in which models take images. */
export function dataUri(jpeg: Uint8Array): string {
  return `data:image/jpeg;base64,${Buffer.from(jpeg).toString("base64")}`;
}

/**
 * Calls a model for all inputs, `batchSize` at a time. A batch that it refuses for its size is
 * halved, down to one input. Outputs are in the order of the inputs.
 */
export async function callInBatches<Input, Output>(
  inputs: readonly Input[],
  batchSize: number,
  call: (batch: readonly Input[]) => Promise<Output[]>,
): Promise<Output[]> {
  const outputs: Output[] = [];
  for (let i = 0; i < inputs.length; i += batchSize) {
    const batch = inputs.slice(i, i + batchSize);
    const halve = (error: unknown) => {
      if (batch.length === 1 || !isOversize(error)) throw error;
      return callInBatches(batch, Math.ceil(batch.length / 2), call);
    };
    append(outputs, await call(batch).catch(halve));
  }
  return outputs;
}

/** Estimate for models that don't report token counts. */
export const CHARACTERS_PER_TOKEN = 4;
const TOKENS_PER_IMAGE = 256; // of Gemma

export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
}

/** Estimates the tokens of texts, and of images as `data:` URLs, in an input or output. */
export function estimateTokens(value: unknown): number {
  if (typeof value === "string") {
    return value.startsWith("data:image/") ? TOKENS_PER_IMAGE : value.length / CHARACTERS_PER_TOKEN;
  }
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, part) => sum + estimateTokens(part), 0);
}

/** Counts the tokens of a call, and its neurons by the model's price: the platform's may differ. */
export function countTokens(
  count: Count,
  model: string,
  { inputTokens, outputTokens }: TokenUsage,
) {
  count("inputTokens", inputTokens);
  count("outputTokens", outputTokens);
  const settings = findSettings(model);
  if (!settings || !("neurons" in settings)) return;
  const [perInput, perOutput] = settings.neurons; // per million tokens
  count("neurons", (inputTokens * perInput + outputTokens * perOutput) / 1_000_000);
}

/** Counts the tokens or the seconds of audio that a whole response reports, and its neurons. */
function countResponse(count: Count, model: string, input: object, response: unknown): void {
  const settings = findSettings(model);
  if (settings && "neuronsPerMinute" in settings) {
    const { duration = 0 } = readNumbers(response, "transcription_info");
    count("audioSeconds", duration);
    return count("neurons", (duration / 60) * settings.neuronsPerMinute);
  }
  const chat = readNumbers(response, "usage");
  const detection = readNumbers(response, "metrics"); // of Moondream
  countTokens(count, model, {
    inputTokens:
      chat["prompt_tokens"] ?? detection["input_tokens"] ?? Math.ceil(estimateTokens(input)),
    outputTokens: chat["completion_tokens"] ?? detection["output_tokens"] ?? 0,
  });
}

function findSettings(model: string) {
  return Object.values(MODELS).find(({ id }) => id === model);
}

/** Reads a property that is an object of numbers; empty if it is missing. */
function readNumbers(response: unknown, name: string): Record<string, number> {
  const value: unknown = typeof response === "object" && response && Reflect.get(response, name);
  return typeof value === "object" && value ? { ...value } : {};
}
