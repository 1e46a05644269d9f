/**
 * Every code an error can carry: the HTTP status that it becomes at the edge, and how often work that
 * meets it is tried; as often as the queue lets it where that is Infinity.
 */
export const ERRORS = {
  bad_request: { status: 400, tries: 1 },
  unauthorized: { status: 401, tries: 1 },
  forbidden: { status: 403, tries: 1 },
  not_found: { status: 404, tries: 1 },
  method_not_allowed: { status: 405, tries: 1 },
  conflict: { status: 409, tries: 1 },
  gone: { status: 410, tries: 1 },
  precondition_failed: { status: 412, tries: 1 },
  too_large: { status: 413, tries: 1 },
  unsupported_media_type: { status: 415, tries: 1 },
  wrong_checksum: { status: 460, tries: 1 }, // tus's own
  rate_limited: { status: 429, tries: Infinity },
  // Of the account: docs/accounts.md.
  limit_reached: { status: 429, tries: 1 },
  account_full: { status: 402, tries: 1 },
  internal: { status: 500, tries: Infinity },
  upstream_failed: { status: 502, tries: 4 },
  upstream_unavailable: { status: 503, tries: Infinity },
  upstream_timeout: { status: 504, tries: Infinity },
  model_missing: { status: 503, tries: 1 },
  model_refused: { status: 502, tries: 1 },
  // What ends an import. docs/platforms.md.
  unsupported_platform: { status: 422, tries: 1 },
  platform_not_configured: { status: 503, tries: 1 },
  quota_exceeded: { status: 503, tries: 1 },
  // What ends an asset. docs/ingest-errors.md gives each one's cause and remedy.
  blocked_address: { status: 422, tries: 1 },
  download_failed: { status: 502, tries: 3 },
  download_refused: { status: 502, tries: 1 },
  media_not_available: { status: 422, tries: 1 },
  original_removed: { status: 404, tries: 1 },
  not_a_video: { status: 415, tries: 1 },
  not_an_image: { status: 415, tries: 1 },
  unreadable_container: { status: 422, tries: 1 },
  no_video_track: { status: 422, tries: 1 },
  unsupported_codec: { status: 422, tries: 1 },
  unsupported_sound: { status: 422, tries: 1 },
  unreadable_image: { status: 422, tries: 1 },
  unreadable_frame: { status: 422, tries: 1 },
  too_long: { status: 422, tries: 1 },
  duplicate_bytes: { status: 409, tries: 1 },
  nothing_indexed: { status: 422, tries: 1 },
  source_missing: { status: 500, tries: 1 },
  step_failed: { status: 500, tries: 1 },
} as const;

export type ErrorCode = keyof typeof ERRORS;

/** A failure with a code and a sentence that says what is wrong and what to do. */
export class AppError extends Error {
  readonly code: ErrorCode;
  /** Seconds after which trying again makes sense, where that is known. */
  readonly retryAfter: number | undefined;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions & { retryAfter?: number }) {
    super(message, options);
    this.name = "AppError";
    this.code = code;
    this.retryAfter = options?.retryAfter;
  }
}

/** One failed rule of a request, in the shape that FastAPI's users know. */
export interface ValidationIssue {
  loc: (string | number)[];
  msg: string;
  type: string;
}

/** The request breaks rules of the contract: all of them, not the first only. Status 422. */
export class ValidationError extends Error {
  readonly issues: ValidationIssue[];

  constructor(issues: ValidationIssue[]) {
    super(issues.map((issue) => `${issue.loc.join(".")}: ${issue.msg}`).join("; "));
    this.name = "ValidationError";
    this.issues = issues;
  }
}

/** A `ValidationError` of a single issue. */
export function invalid(loc: (string | number)[], type: string, msg: string): ValidationError {
  const words = type === "value_error" ? `Value error, ${msg}` : msg; // as pydantic has it
  return new ValidationError([{ loc, msg: words, type }]);
}

/** What an ingest step or a job records of an error: unknown causes keep their text to the log. */
export interface Failure {
  code: ErrorCode;
  message: string;
}

export function failureOf(error: unknown): Failure {
  if (error instanceof AppError) return { code: error.code, message: error.message };
  return { code: "internal", message: "Something went wrong on our side; the log has the cause." };
}

/** Whether work that failed at its `attempt`th try (from 1) is tried again. The unknown may be a hiccup. */
export function isRetryable(error: unknown, attempt: number): boolean {
  return attempt < (error instanceof AppError ? ERRORS[error.code].tries : Infinity);
}

/** The errors of a chain of causes in one line. It may quote what people sent: not for the log. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = `${error.name}: ${error.message}`;
  return error.cause === undefined ? own : `${own} <- ${causeOf(error.cause)}`;
}

/** What the log may know of an error: only `traceOf` makes one. */
export type Trace = string & { readonly isTrace: true };

/** Of what upstreams and libraries say: their own codes. */
const CODES = /\b(?:D1_[A-Z_]+|SQLITE_[A-Z_]+|VECTOR_[A-Z_]+|\d{4}(?=: )|\d{5}(?=\): ))/g;

/**
 * Which errors led to an error, with their codes, and where the first came from. Never what they say: that may
 * quote a query, a transcript, a prompt or a URL.
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
  const own = [name, ...(error.message.match(CODES) ?? []).slice(0, 3), placeOf(error)]
    .join(" ")
    .trim();
  return error.cause === undefined ? own : `${own} <- ${traceOf(error.cause)}`;
}

/** The function and line that threw. */
function placeOf({ stack = "", message }: Error): string {
  const frames = stack.slice(stack.indexOf(message) + message.length);
  const [, called = "", file, line] =
    /^\s+at (?:async )?(?:([\w.#<>]{1,80}) )?\(?(?:[^\s()]*\/)?([\w.-]{1,80}):(\d+):\d+\)?$/m.exec(
      frames,
    ) ?? [];
  return file === undefined ? "" : `at ${called} ${file}:${line}`.replace("  ", " ");
}
