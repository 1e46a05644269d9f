/** Address and bearer token of the offline engine (`local/engine`). */
export interface EngineEnv {
  ENGINE_URL: string;
  ENGINE_TOKEN: string;
  /** Aborts the requests to the engine. */
  signal?: AbortSignal;
}

const TIMEOUT_MS = 600_000;

/** A failed call of the engine: `code` is the engine's, `unreachable`, `timeout` or `failed`. */
class EngineFailure extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "EngineFailure";
    this.code = code;
  }
}

/**
 * Workers AI's messages by engine code
 * (https://developers.cloudflare.com/workers-ai/platform/errors/).
 */
const AI_MESSAGES: Record<string, string> = {
  unreachable: "3040: Capacity temporarily exceeded, please try again.",
  busy: "3040: Capacity temporarily exceeded, please try again.",
  timeout: "3007: Request timeout",
  too_large: "3006: Request is too large",
  undecodable_image: "3010: Invalid or incomplete input for the model: failed to decode image",
  undecodable_media: "3010: Invalid or incomplete input for the model: failed to decode audio",
  no_audio: "3010: Invalid or incomplete input for the model: failed to decode audio",
  upstream_refused: "3010: Invalid or incomplete input for the model",
  upstream_failed: "3040: Capacity temporarily exceeded, please try again.",
};

/**
 * Media Transformations' codes by engine code
 * (https://developers.cloudflare.com/stream/transform-videos/troubleshooting/).
 */
const MEDIA_CODES: Record<string, number> = {
  bad_request: 9401,
  time_out_of_range: 9401,
  too_large: 9402,
  undecodable_media: 9412,
  no_video: 9412,
  no_audio: 9412,
  busy: 9504,
};
const MEDIA_INTERNAL = 9523;

/**
 * The Images binding's codes by engine code
 * (https://developers.cloudflare.com/images/reference/troubleshooting/).
 */
const IMAGES_CODES: Record<string, number> = {
  bad_request: 9432,
  undecodable_image: 9412,
  too_large: 9413,
};
const IMAGES_INTERNAL = 9523;

/** Makes an error as `env.AI.run` throws it: `"<code>: <text>"`. */
export function aiError(message: string): Error {
  const error = new Error(message);
  error.name = "InferenceUpstreamError";
  return error;
}

/** `hint` says what this machine lacks, and how to get it. */
export function noSuchModel(model: string, hint = ""): Error {
  return aiError(`5007: No such model ${model} or task${hint && `. ${hint}`}`);
}

/**
 * Shapes in which an error of FRAMES or IMAGES may arrive: a plain `Error` whose message has the
 * code, as after an RPC; with the property `code`, as the types say; with the text of the header
 * `Cf-Resized`, as the documentation says.
 */
export const ERROR_SHAPES = ["message", "coded", "cf_resized"] as const;
export type ErrorShape = (typeof ERROR_SHAPES)[number];

/** Makes an error of the media binding, by default in the shape that says the least. */
export function mediaError(code: number, message: string, shape?: ErrorShape): Error {
  return shapeError({ prefix: "MEDIA_TRANSFORM_ERROR", name: "MediaError" }, code, message, shape);
}

/** Makes an error of the Images binding, by default in the shape that says the least. */
export function imagesError(code: number, message: string, shape?: ErrorShape): Error {
  return shapeError({ prefix: "IMAGES_TRANSFORM_ERROR", name: "Error" }, code, message, shape);
}

function shapeError(
  { prefix, name }: { prefix: string; name: string },
  code: number,
  message: string,
  shape: ErrorShape = "message",
): Error {
  if (shape === "cf_resized") return new Error(`${message} (Cf-Resized: err=${code})`);
  const error = new Error(`${prefix} ${code}: ${message}`);
  return shape === "coded" ? Object.assign(error, { name, code }) : error;
}

/** Returns the JSON of `POST path`; throws Workers AI's error about `model`. */
export async function requestAi(
  env: EngineEnv,
  model: string,
  path: string,
  body: BodyInit,
): Promise<unknown> {
  return (await requestAiResponse(env, model, path, body)).json();
}

/** Returns the response to `POST path`; throws Workers AI's error about `model`. */
export async function requestAiResponse(
  env: EngineEnv,
  model: string,
  path: string,
  body: BodyInit,
): Promise<Response> {
  try {
    return await post(env, path, body);
  } catch (error) {
    env.signal?.throwIfAborted();
    const { code, message } =
      error instanceof EngineFailure ? error : { code: "failed", message: "" };
    if (code === "model_not_found") throw noSuchModel(model, message);
    throw aiError(AI_MESSAGES[code] ?? "3043: Internal server error");
  }
}

/** Returns the response to `POST path`; throws Media Transformations' error. */
export function requestMedia(env: EngineEnv, path: string, body: BodyInit): Promise<Response> {
  return requestWithCodes(env, path, body, {
    codes: MEDIA_CODES,
    internalCode: MEDIA_INTERNAL,
    toError: mediaError,
  });
}

/** Returns the response to `POST path`; throws the Images binding's error. */
export function requestImages(env: EngineEnv, path: string, body: BodyInit): Promise<Response> {
  return requestWithCodes(env, path, body, {
    codes: IMAGES_CODES,
    internalCode: IMAGES_INTERNAL,
    toError: imagesError,
  });
}

interface CodedErrors {
  codes: Record<string, number>;
  internalCode: number;
  toError: (code: number, message: string) => Error;
}

async function requestWithCodes(
  env: EngineEnv,
  path: string,
  body: BodyInit,
  { codes, internalCode, toError }: CodedErrors,
): Promise<Response> {
  try {
    return await post(env, path, body);
  } catch (error) {
    const code = error instanceof EngineFailure ? codes[error.code] : undefined;
    if (code === undefined) throw toError(internalCode, "internal error");
    throw toError(code, error instanceof Error ? error.message : "failed");
  }
}

async function post(env: EngineEnv, path: string, body: BodyInit): Promise<Response> {
  const headers = {
    authorization: `Bearer ${env.ENGINE_TOKEN}`,
    "content-type": typeof body === "string" ? "application/json" : "application/octet-stream",
  };
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const signal = env.signal ? AbortSignal.any([timeout, env.signal]) : timeout;
  let response: Response;
  try {
    response = await fetch(env.ENGINE_URL + path, { method: "POST", headers, body, signal });
  } catch (cause) {
    const code = timeout.aborted ? "timeout" : "unreachable";
    throw new EngineFailure(code, `the engine is ${code}`, { cause });
  }
  if (response.ok) return response;
  const { code, message } = readError(await response.text());
  throw new EngineFailure(code, message);
}

function readError(text: string): { code: string; message: string } {
  try {
    const { error }: { error?: { code?: string; message?: string } } = JSON.parse(text);
    return { code: error?.code ?? "failed", message: error?.message ?? "failed" };
  } catch {
    return { code: "failed", message: "failed" };
  }
}
