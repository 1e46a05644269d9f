import { SightlineError } from "../packages/sightline/errors.js";
import { formatDetail } from "./error-wording.js";

const FINAL = new Set([400, 403, 404, 413, 415, 422, 501]);
/** What is said of a service that doesn't answer, whatever was asked of it. */
export const OFFLINE = "The service can't be reached. Is it running?";

/** Message of a browser about a module that it can't load. */
const MODULE_FAILURE = /dynamically imported module|importing a module/i;

/** Returns the message of an error for the user. */
export function messageOf({ message }) {
  return MODULE_FAILURE.test(message) ? OFFLINE : message;
}

/** Returns whether the service answers at all. */
export function isReachable() {
  const options = { method: "HEAD", cache: "no-store" };
  return fetch("/console/icon.svg", options).then(
    () => true,
    () => false,
  );
}

/** What a proxy before the service means, whose responses have no `detail`. */
const STATUSES = {
  413: "The file is larger than this server accepts in one request.",
  502: OFFLINE,
  503: "The service is busy. Try again in a moment.",
  504: "The service took too long. Try again in a moment.",
};

/** An error response. `message` is the API's `detail`; status 0 means that no response arrived. */
export class ApiError extends Error {
  constructor(status, message, retryAfter = null) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }

  /** Whether the same request fails again, until someone changes it. */
  get isFinal() {
    return FINAL.has(this.status);
  }
}

/**
 * Makes an `ApiError` of an error of the client; others, such as a signal's reason, stay. Status 401
 * ends the session. An error that the service reports after its response began has status 502.
 */
export function toApiError(error) {
  if (!(error instanceof SightlineError)) return error;
  const { code, status, detail, issues, retryAfter } = error;
  if (code === "connection_failed" || code === "redirected") return new ApiError(0, OFFLINE);
  if (status === undefined) return new ApiError(502, error.message);
  const sentence = issues?.length > 0 ? formatDetail(issues) : detail;
  const message = sentence ?? STATUSES[status] ?? `The service returned status ${status}.`;
  const failure = new ApiError(status, message, retryAfter ?? null);
  if (status === 401) window.dispatchEvent(new CustomEvent("unauthorized", { detail: failure }));
  return failure;
}
