/** Every error code a caller can see, with its HTTP status. */
const STATUSES = {
  bad_request: 400,
  unauthorized: 401,
  not_found: 404,
  too_large: 413,
  no_audio: 422,
  no_video: 422,
  time_out_of_range: 422,
  undecodable_image: 422,
  undecodable_media: 422,
  upstream_refused: 422,
  failed: 500,
  model_missing: 501,
  upstream_failed: 502,
  busy: 503,
} as const;

export type EngineErrorCode = keyof typeof STATUSES;

/** The only error whose message leaves the process. */
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

/** An `EngineError` as it is; anything else is logged and becomes `failed` without its details. */
export function toEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  console.error(error);
  return new EngineError("failed", "The engine failed on this input.", { cause: error });
}
