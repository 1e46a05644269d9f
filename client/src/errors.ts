import type { Asset, Job, ValidationIssue } from "./types.ts";

export interface ErrorDetails extends ErrorOptions {
  status?: number | undefined;
  code?: string | undefined;
  detail?: string | undefined;
  requestId?: string | undefined;
  retryAfter?: number | undefined;
}

/** Codes of responses that name none. */
const CODES: Readonly<Record<number, string>> = {
  400: "bad_request",
  401: "unauthorized",
  402: "account_full",
  403: "forbidden",
  404: "not_found",
  405: "method_not_allowed",
  409: "conflict",
  410: "gone",
  412: "precondition_failed",
  413: "too_large",
  415: "unsupported_media_type",
  422: "invalid_request",
  429: "rate_limited",
  500: "internal",
  501: "platform_not_configured",
  502: "upstream_failed",
  503: "upstream_unavailable",
  504: "upstream_timeout",
  507: "deployment_full",
};

/** Base of all errors that the client throws. The message is the service's own sentence. */
export class SightlineError extends Error {
  override name = "SightlineError";
  /** HTTP status; undefined if there was no response. */
  readonly status: number | undefined;
  /** Code such as `not_found`. */
  readonly code: string;
  /** The service's own sentence; undefined if a proxy answered, or nobody. */
  readonly detail: string | undefined;
  /** Value of `X-Request-Id`, which the service's log has, too. */
  readonly requestId: string | undefined;
  /** Seconds until a retry can succeed, if the service says so. */
  readonly retryAfter: number | undefined;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, "cause" in details ? { cause: details.cause } : {});
    this.status = details.status;
    this.code = details.code ?? CODES[details.status ?? 0] ?? "unknown";
    this.detail = details.detail;
    this.requestId = details.requestId;
    this.retryAfter = details.retryAfter;
  }
}

/** Status 422: the request is invalid. `issues` has every invalid field. */
export class ValidationError extends SightlineError {
  override name = "ValidationError";
  readonly issues: ValidationIssue[];

  constructor(message: string, details: ErrorDetails & { issues?: ValidationIssue[] } = {}) {
    super(message, details);
    this.issues = details.issues ?? [];
  }
}

/** Status 401: the API key is missing, unknown, expired or revoked. */
export class AuthenticationError extends SightlineError {
  override name = "AuthenticationError";
}

/** Status 403: the API key lacks the scope of the operation. */
export class PermissionError extends SightlineError {
  override name = "PermissionError";
}

/** Status 404: there is no such thing in this account. */
export class NotFoundError extends SightlineError {
  override name = "NotFoundError";
}

/** Status 409: the state forbids the operation. */
export class ConflictError extends SightlineError {
  override name = "ConflictError";
}

/** Status 429: a limit is reached. */
export class RateLimitError extends SightlineError {
  override name = "RateLimitError";
}

/** Status 500 to 599. */
export class ServerError extends SightlineError {
  override name = "ServerError";
}

/** No answer, an answer that broke off, or none within `timeoutMs`. */
export class ConnectionError extends SightlineError {
  override name = "ConnectionError";

  constructor(message: string, options: ErrorOptions = {}) {
    super(message, { ...options, code: "connection_failed" });
  }
}

/** The ingest of an asset has failed. `code` is listed in docs/formats.md. */
export class IngestFailedError extends SightlineError {
  override name = "IngestFailedError";
  readonly asset: Asset;

  constructor(asset: Asset) {
    super(`${asset.title}: ${asset.error?.message ?? "The ingest failed."}`, {
      code: asset.error?.code,
    });
    this.asset = asset;
  }
}

/** A job has failed or was cancelled. */
export class JobFailedError extends SightlineError {
  override name = "JobFailedError";
  readonly job: Job;

  constructor(job: Job) {
    const message = job.error?.message ?? `The job ${job.job_id} was ${job.state}.`;
    super(message, { code: job.error?.code ?? job.state });
    this.job = job;
  }
}
