/** A refusal of the API, with its HTTP status and Cloudflare's error code. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: number;
  /** What Wrangler prints of it, by class of objects. */
  readonly details: readonly object[] | undefined;

  constructor(status: number, code: number, message: string, details?: readonly object[]) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}
