import { LIMITS } from "./config.ts";

/**
 * Error codes with the HTTP status of the response, and the number of attempts at background work
 * that fails with the code. `Infinity` leaves the number to the queue.
 */
export const ERRORS = {
  bad_request: { status: 400, maxAttempts: 1 },
  unauthorized: { status: 401, maxAttempts: 1 },
  forbidden: { status: 403, maxAttempts: 1 },
  not_found: { status: 404, maxAttempts: 1 },
  method_not_allowed: { status: 405, maxAttempts: 1 },
  conflict: { status: 409, maxAttempts: 1 },
  gone: { status: 410, maxAttempts: 1 },
  precondition_failed: { status: 412, maxAttempts: 1 },
  too_large: { status: 413, maxAttempts: 1 },
  unsupported_media_type: { status: 415, maxAttempts: 1 },
  checksum_mismatch: { status: 460, maxAttempts: 1 }, // defined by tus 1.0
  rate_limited: { status: 429, maxAttempts: Infinity },
  // Limits of an account: docs/limits.md.
  limit_reached: { status: 429, maxAttempts: 1 },
  cost_limit_reached: { status: 429, maxAttempts: Infinity },
  account_full: { status: 402, maxAttempts: 1 },
  deployment_full: { status: 507, maxAttempts: 1 }, // RFC 4918; docs/operate.md#d1-is-almost-full
  internal: { status: 500, maxAttempts: Infinity },
  upstream_failed: { status: 502, maxAttempts: 4 },
  upstream_unavailable: { status: 503, maxAttempts: Infinity },
  upstream_timeout: { status: 504, maxAttempts: Infinity },
  model_not_found: { status: 503, maxAttempts: 1 },
  model_request_rejected: { status: 502, maxAttempts: 1 },
  model_output_unreadable: { status: 502, maxAttempts: 1 },
  decoder_not_configured: { status: 501, maxAttempts: 1 },
  // Failures of an import: docs/uploads.md#imports.
  unsupported_platform: { status: 422, maxAttempts: 1 },
  platform_not_configured: { status: 501, maxAttempts: 1 },
  platform_quota_exceeded: { status: 503, maxAttempts: 1 },
  // Failures of an ingest: docs/formats.md lists causes and remedies.
  blocked_address: { status: 422, maxAttempts: 1 },
  download_failed: { status: 502, maxAttempts: 3 },
  download_refused: { status: 502, maxAttempts: 1 },
  media_not_available: { status: 422, maxAttempts: 1 },
  original_removed: { status: 404, maxAttempts: 1 },
  not_a_video: { status: 415, maxAttempts: 1 },
  not_an_image: { status: 415, maxAttempts: 1 },
  unreadable_container: { status: 422, maxAttempts: 1 },
  incomplete_media: { status: 422, maxAttempts: 1 },
  no_video_track: { status: 422, maxAttempts: 1 },
  unsupported_codec: { status: 422, maxAttempts: 1 },
  unsupported_audio_codec: { status: 422, maxAttempts: 1 },
  unreadable_image: { status: 422, maxAttempts: 1 },
  unreadable_frame: { status: 422, maxAttempts: 1 },
  too_complex: { status: 422, maxAttempts: 2 }, // for the decoder, which may fail once by chance
  too_long: { status: 422, maxAttempts: 1 },
  transcript_malformed: { status: 422, maxAttempts: 1 },
  transcript_shifted: { status: 422, maxAttempts: 1 },
  transcript_past_end: { status: 422, maxAttempts: 1 },
  duplicate_bytes: { status: 409, maxAttempts: 1 },
  nothing_indexed: { status: 422, maxAttempts: 1 },
  source_missing: { status: 500, maxAttempts: 1 },
  attempts_exhausted: { status: 500, maxAttempts: 1 },
} as const;

export type ErrorCode = keyof typeof ERRORS;

/**
 * An error with a code. The message says what is wrong and what to do, and is shown to the user.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  /** Seconds until a retry can succeed, if known. */
  readonly retryAfter: number | undefined;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions & { retryAfter?: number }) {
    super(message, options);
    this.name = "AppError";
    this.code = code;
    this.retryAfter = options?.retryAfter;
  }
}

/** A validation issue of a request, in the shape of FastAPI's 422 responses. */
export interface ValidationIssue {
  loc: (string | number)[];
  msg: string;
  type: string;
}

/** A request that fails validation, with all of its issues. Status 422. */
export class ValidationError extends Error {
  readonly issues: ValidationIssue[];

  constructor(issues: ValidationIssue[]) {
    super(issues.map((issue) => `${issue.loc.join(".")}: ${issue.msg}`).join("; "));
    this.name = "ValidationError";
    this.issues = issues;
  }
}

/** Makes a `ValidationError` with one issue. */
export function invalid(loc: (string | number)[], type: string, msg: string): ValidationError {
  return new ValidationError([{ loc, msg, type }]);
}

/** The error that a failed ingest step or job records, and that the API returns. */
export interface Failure {
  code: ErrorCode;
  message: string;
}

/** Makes the failure to record. A message is cut; those of unexpected errors are left out. */
export function failureOf(error: unknown): Failure {
  if (error instanceof AppError) {
    const message = error.message.slice(0, LIMITS.failureCharacters).toWellFormed();
    return { code: error.code, message };
  }
  return { code: "internal", message: "Something went wrong on our side; the log has the cause." };
}

/** Tests whether an error says that something isn't there. */
export function isNotFound(error: unknown): boolean {
  return error instanceof AppError && error.code === "not_found";
}

/** Returns null for `not_found`, and throws any other error: for `catch` of a promise. */
export function nullIfNotFound(error: unknown): null {
  if (isNotFound(error)) return null;
  throw error;
}

/**
 * Whether work is retried whose `attempt`th attempt (from 1) failed. Unexpected errors may pass.
 */
export function isRetryable(error: unknown, attempt: number): boolean {
  return attempt < (error instanceof AppError ? ERRORS[error.code].maxAttempts : Infinity);
}

/**
 * Whether work that failed is deferred: it waits for `retryAfter` and spends no attempt, however
 * often. These are the limits of Workers AI and of a day's cost, which pass without a change by
 * anyone.
 */
export function isDeferrable(error: unknown): error is AppError & { readonly retryAfter: number } {
  return (
    error instanceof AppError &&
    (error.code === "upstream_unavailable" || error.code === "cost_limit_reached") &&
    error.retryAfter !== undefined
  );
}

/** Formats a chain of causes as one line. It may quote user data: don't log it, log `traceOf`. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const text = `${error.name}: ${error.message}`;
  return error.cause === undefined ? text : `${text} <- ${causeOf(error.cause)}`;
}

/** A description of an error that is safe to log. Only `traceOf` makes one. */
export type Trace = string & { readonly isTrace: true };

/** Error codes in the messages of D1, SQLite, Vectorize, Images and other upstreams. */
export const CODES =
  /\b(?:D1_[A-Z_]+|SQLITE_[A-Z_]+|VECTOR_[A-Z_]+|\d{3,4}(?=: )|\d{5}(?=\): )|(?<=err=)\d{3,4})/g;

/**
 * Names the errors in a chain of causes, with upstream codes and the line that threw. Leaves out
 * the messages, which may quote a query, a transcript, a prompt or a URL.
 */
export function traceOf(error: unknown): Trace {
  return traceOfChain(error) as Trace;
}

function traceOfChain(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  if (error instanceof AppError) {
    return error.cause === undefined ? error.code : `${error.code} <- ${traceOf(error.cause)}`;
  }
  const name = /^\w{1,40}$/.test(error.name) ? error.name : "Error";
  const trace = [name, ...(error.message.match(CODES) ?? []).slice(0, 3), throwSite(error)]
    .join(" ")
    .trim();
  return error.cause === undefined ? trace : `${trace} <- ${traceOf(error.cause)}`;
}

/** The function, file and line that threw; empty if the stack doesn't say. */
function throwSite({ stack = "", message }: Error): string {
  const frames = stack.slice(stack.indexOf(message) + message.length);
  const [, functionName = "", file, line] = // bounded: a trace of ten frames
    /^\s+at (?:async )?(?:([\w.#<>]{1,80}) )?\(?(?:[^\s()]*\/)?([\w.-]{1,80}):(\d+):\d+\)?$/m.exec(
      frames,
    ) ?? [];
  return file === undefined ? "" : `at ${functionName} ${file}:${line}`.replace("  ", " ");
}
