import {
  type DetailedError,
  type HttpRequest,
  type HttpResponse,
  type HttpStack,
  Upload,
} from "tus-js-client";
import type { ApiPath } from "./api-path.ts";
import {
  ConflictError,
  ConnectionError,
  RateLimitError,
  ServerError,
  SightlineError,
} from "./errors.ts";
import { orAbort, retryDelay } from "./retries.ts";
import type { ApiRequest, Transport } from "./transport.ts";
import type {
  AddedAsset,
  Asset,
  RequestOptions,
  Upload as UploadRecord,
  UploadProgress,
} from "./types.ts";

export interface UploadOptions extends RequestOptions {
  /** File name, which becomes the title. */
  name: string;
  metadata?: Record<string, unknown> | undefined;
  onProgress?: UploadProgress | undefined;
  /** Continues an earlier upload of the file. */
  resumeUrl?: string | undefined;
  /** Gets the URL that continues this upload. */
  onUrl?: ((url: string) => void) | undefined;
  /** Pauses before retries. Sent bytes start them anew. Default: backoff, `maxRetries` times. */
  retryDelaysMs?: readonly number[] | undefined;
  /** Is called when a request has failed and will be repeated. */
  onRetry?: (() => void) | undefined;
}

/** Bytes of one request. At most one is in memory. */
const CHUNK_BYTES = 16 * 1024 * 1024;

/**
 * Uploads a file in several requests by tus 1.0. After an error, the service is asked what it has,
 * and the upload continues there.
 */
export async function uploadFile(
  transport: Transport,
  indexPath: ApiPath,
  file: Blob,
  options: UploadOptions,
): Promise<AddedAsset> {
  const signal = transport.signalOf(options.signal);
  const stack = new TusRequests(transport, [...indexPath, "uploads"], options);
  signal?.throwIfAborted();
  let stop = () => {};
  const ended = new Promise<string>((resolve, reject) => {
    const upload = startUpload(stack, file, options, resolve, reject);
    stop = () => void upload.abort();
  });
  const url = await orAbort(ended, signal).finally(stop);
  const path = stack.pathOf(url);
  const record = await transport.json<UploadRecord>({ method: "GET", path }, options);
  const { asset_id: id, asset_type: type, duplicate, error } = record;
  if (id === null || type === null) {
    const message = error?.message ?? "The service has the file, but no asset of it yet.";
    throw new SightlineError(message, { code: error?.code });
  }
  const assetPath = [...indexPath, type, id];
  const asset = await transport.json<Asset>({ method: "GET", path: assetPath }, options);
  return { ...asset, duplicate: duplicate ?? false };
}

function startUpload(
  stack: TusRequests,
  file: Blob,
  { name, metadata, onProgress, onUrl, resumeUrl, retryDelaysMs, onRetry }: UploadOptions,
  resolve: (url: string) => void,
  reject: (error: unknown) => void,
): Upload {
  const { maxRetries, uploadsUrl } = stack;
  const upload = new Upload(file, {
    endpoint: uploadsUrl,
    uploadUrl: resumeUrl ?? null,
    metadata: {
      filename: name,
      ...(file.type && { filetype: file.type }),
      ...(metadata && { metadata_str: JSON.stringify(metadata) }),
    },
    chunkSize: CHUNK_BYTES,
    retryDelays: [
      ...(retryDelaysMs ??
        Array.from({ length: maxRetries }, (_, i) =>
          Number(retryDelay(i, undefined, Math.random())),
        )),
    ],
    onShouldRetry({ causingError }) {
      const isRetried = mayPass(causingError);
      if (isRetried) onRetry?.();
      return isRetried;
    },
    storeFingerprintForResuming: false,
    fingerprint: () => Promise.resolve(""),
    httpStack: stack,
    fileReader: {
      openFile: () =>
        Promise.resolve({
          size: file.size,
          slice: (start, end) =>
            Promise.resolve({ value: file.slice(start, end), done: end >= file.size }),
          close: () => {},
        }),
    },
    onProgress: (sent, total) => onProgress?.(sent, total),
    onUploadUrlAvailable: () => onUrl?.(upload.url!),
    onSuccess: () => resolve(upload.url!),
    onError: (error) => reject((error as Partial<DetailedError>).causingError ?? error),
  });
  upload.start();
  return upload;
}

/** Whether an upload may continue after an error: the offset is asked for in between. */
function mayPass(error: Error | null): boolean {
  if (error instanceof RateLimitError) {
    return error.retryAfter !== undefined && retryDelay(0, error.retryAfter, 0) !== null;
  }
  return (
    error instanceof ConnectionError ||
    error instanceof ServerError ||
    error instanceof ConflictError
  );
}

/**
 * Requests of tus-js-client, sent by the transport: only to the client's own service, whatever an
 * upload's URL says. Throws for each status that isn't a success.
 */
class TusRequests implements HttpStack {
  readonly maxRetries: number;
  readonly uploadsUrl: string;
  readonly #transport: Transport;
  readonly #uploadsPath: ApiPath;
  readonly #options: RequestOptions;

  constructor(transport: Transport, uploadsPath: ApiPath, { signal, timeoutMs }: RequestOptions) {
    this.maxRetries = transport.maxRetries;
    this.uploadsUrl = transport.urlOf(uploadsPath);
    this.#transport = transport;
    this.#uploadsPath = uploadsPath;
    this.#options = { signal, timeoutMs };
  }

  getName(): string {
    return "fetch";
  }

  /** Returns the path of the upload with a URL. */
  pathOf(url: string): ApiPath {
    return [...this.#uploadsPath, new URL(url, this.uploadsUrl).pathname.split("/").at(-1) ?? ""];
  }

  createRequest(method: string, url: string): HttpRequest {
    const headers: Record<string, string> = {};
    const isCreation = method === "POST";
    let onSent = (_sent: number) => {};
    const send = async (body: Blob | null) => {
      const request: ApiRequest = {
        method: method as ApiRequest["method"],
        path: isCreation ? this.#uploadsPath : this.pathOf(url),
        headers,
        body: body ?? undefined,
        onUploadProgress: (sent) => onSent(sent),
        ...(isCreation && { repeatable: "safe" }), // an abandoned upload expires
      };
      return tusResponse(await this.#transport.open(request, this.#options));
    };
    return {
      getMethod: () => method,
      getURL: () => url,
      setHeader: (name, value) => void (headers[name] = value),
      getHeader: (name) => headers[name],
      setProgressHandler: (handler) => (onSent = handler), // without reports: whole chunks
      send,
      abort: () => Promise.resolve(), // the signal ends the request
      getUnderlyingObject: () => null,
    };
  }
}

function tusResponse(response: Response): HttpResponse {
  return {
    getStatus: () => response.status,
    getHeader: (name) => response.headers.get(name) ?? undefined,
    getBody: () => "",
    getUnderlyingObject: () => response,
  };
}
