/** HTTP status by error code. */
const STATUSES = {
  bad_request: 400,
  unauthorized: 401,
  not_found: 404,
  too_large: 413,
  unsupported_image: 415,
  no_audio: 422,
  no_video: 422,
  time_out_of_range: 422,
  too_complex: 422,
  undecodable_image: 422,
  undecodable_media: 422,
  upstream_refused: 422,
  failed: 500,
  model_not_found: 501,
  upstream_failed: 502,
  busy: 503,
  deadline_exceeded: 504,
} as const;

export type EngineErrorCode = keyof typeof STATUSES;

/** The only error class whose message is sent to callers. */
export class EngineError extends Error {
  readonly code: EngineErrorCode;

  constructor(code: EngineErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "EngineError";
    this.code = code;
  }

  get status(): number {
    return STATUSES[this.code];
  }
}

/**
 * Returns an `EngineError` unchanged; logs any other error and returns `failed` without details.
 */
export function toEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  console.error(error);
  return new EngineError("failed", "The engine failed on this input.", { cause: error });
}
