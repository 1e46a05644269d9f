/**
 * Every code an error can carry: the HTTP status that it becomes at the edge, and whether an ingest
 * step that meets it may try again.
 */
export const ERRORS = {
  bad_request: { status: 400, retryable: false },
  unauthorized: { status: 401, retryable: false },
  forbidden: { status: 403, retryable: false },
  not_found: { status: 404, retryable: false },
  method_not_allowed: { status: 405, retryable: false },
  conflict: { status: 409, retryable: false },
  too_large: { status: 413, retryable: false },
  unsupported_media_type: { status: 415, retryable: false },
  rate_limited: { status: 429, retryable: true },
  internal: { status: 500, retryable: true },
  upstream_failed: { status: 502, retryable: true },
  upstream_unavailable: { status: 503, retryable: true },
  upstream_timeout: { status: 504, retryable: true },
  model_missing: { status: 503, retryable: false },
  model_refused: { status: 502, retryable: false },
  // What ends an asset. docs/ingest-errors.md gives each one's cause and remedy.
  blocked_address: { status: 422, retryable: false },
  download_failed: { status: 502, retryable: true },
  download_refused: { status: 502, retryable: false },
  not_a_video: { status: 415, retryable: false },
  not_an_image: { status: 415, retryable: false },
  unreadable_container: { status: 422, retryable: false },
  no_video_track: { status: 422, retryable: false },
  unsupported_codec: { status: 422, retryable: false },
  unreadable_image: { status: 422, retryable: false },
  unreadable_frame: { status: 422, retryable: false },
  too_long: { status: 422, retryable: false },
  duplicate_bytes: { status: 409, retryable: false },
  nothing_indexed: { status: 422, retryable: false },
  source_missing: { status: 500, retryable: false },
  step_failed: { status: 500, retryable: false },
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
  return new ValidationError([{ loc, msg, type }]);
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

/** Whether trying again may help. What we don't know may have been a hiccup. */
export function isRetryable(error: unknown): boolean {
  return error instanceof AppError ? ERRORS[error.code].retryable : true;
}

/** The last error of a chain of causes, as one line for the log. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = `${error.name}: ${error.message}`;
  return error.cause === undefined ? own : `${own} <- ${causeOf(error.cause)}`;
}
