import {
  AuthenticationError,
  ConflictError,
  type ErrorDetails,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  SightlineError,
  ValidationError,
} from "./errors.ts";
import { parseRetryAfter } from "./retries.ts";
import type { ValidationIssue } from "./types.ts";

const CLASSES: Readonly<Record<number, typeof SightlineError>> = {
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitError,
};

/** Makes the error of a response whose status isn't a success. */
export async function readError(response: Response): Promise<SightlineError> {
  const { status, headers } = response;
  const { detail, code } = parseBody(await response.text());
  const details: ErrorDetails = {
    status,
    code,
    detail: typeof detail === "string" ? detail : undefined,
    requestId: headers.get("x-request-id") ?? undefined,
    retryAfter: parseRetryAfter(headers.get("retry-after"), Date.now()),
  };
  const issues = Array.isArray(detail) ? detail : [];
  const message =
    typeof detail === "string"
      ? detail
      : issues.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; ") ||
        `The service answered with status ${status}.`;
  if (status === 422) return new ValidationError(message, { ...details, issues });
  const ErrorClass = CLASSES[status] ?? (status >= 500 ? ServerError : SightlineError);
  return new ErrorClass(message, details);
}

interface ErrorBody {
  /** A sentence, or an issue for each invalid field. */
  detail?: string | ValidationIssue[];
  code?: string;
}

function parseBody(text: string): ErrorBody {
  try {
    return (JSON.parse(text) ?? {}) as ErrorBody;
  } catch {
    return {}; // a page of a proxy
  }
}
