import { containerCount } from "../decoder-container.ts";
import { AppError } from "../errors.ts";

/** Where the decoder runs: docs/operate.md#other-codecs. */
export interface ExternalDecoder {
  /** Containers of the deployment (src/durable/decoder.ts). They come before `DECODER_URL`. */
  DECODER?: DecoderContainers;
  /** Number of containers that share the work. */
  DECODER_INSTANCES?: string;
  /** A server with the same interface. Empty without one. */
  DECODER_URL: string;
  DECODER_KEY?: string;
}

/** The part of a Durable Object namespace that reaches a container by its name. */
export interface DecoderContainers {
  getByName(name: string): Pick<Fetcher, "fetch">;
}

export interface DecoderRequest {
  method: string;
  body?: Blob | ReadableStream<Uint8Array>;
  /** Id of a file that the decoder stores: 64 hexadecimal digits. Null if it stores nothing. */
  fileId: string | null;
  timeoutMs: number;
}

/** Whether the deployment has a decoder. */
export function hasDecoder({ DECODER, DECODER_URL }: ExternalDecoder): boolean {
  return DECODER !== undefined || DECODER_URL !== "";
}

/**
 * Sends a request to the decoder, which must exist, and returns its response, whatever the status.
 * All requests with one `fileId` meet one container. Throws `upstream_unavailable` if the decoder
 * is away, starting or full, or if what stands before it answers in its stead.
 */
export async function requestDecoder(
  env: ExternalDecoder,
  path: string,
  { method, body, fileId, timeoutMs }: DecoderRequest,
): Promise<Response> {
  const init: RequestInit = {
    method,
    headers: {
      ...(body && { "content-type": "application/octet-stream" }),
      ...(env.DECODER_KEY && { authorization: `Bearer ${env.DECODER_KEY}` }),
    },
    signal: AbortSignal.timeout(timeoutMs),
    ...(body && { body }),
  };
  let response: Response;
  try {
    response = await (env.DECODER
      ? env.DECODER.getByName(containerName(env, fileId)).fetch(`http://decoder/${path}`, init)
      : fetch(`${env.DECODER_URL}/${path}`, init));
  } catch (cause) {
    throw new AppError("upstream_unavailable", "The decoder does not answer.", { cause });
  }
  if (!isOfGateway(response)) return response;
  await response.body?.cancel();
  throw new AppError("upstream_unavailable", `The decoder can't be reached (${response.status}).`);
}

/**
 * Returns the name of the container for a file. What stores nothing may go to any of them, so that
 * the clips of a video are decoded by all.
 */
function containerName(env: ExternalDecoder, fileId: string | null): string {
  const hash = fileId === null ? Math.random() * 2 ** 32 : Number.parseInt(fileId.slice(0, 8), 16);
  return `decoder-${Math.floor(hash) % containerCount(env.DECODER_INSTANCES)}`;
}

/**
 * Whether a failure was answered by a proxy, or by the object of a container that is starting or
 * full. The decoder's own errors are JSON.
 */
function isOfGateway({ status, headers }: Response): boolean {
  const isFailure = status >= 500 || status === 429;
  return isFailure && !headers.get("content-type")?.startsWith("application/json");
}
