import type { ApiPath } from "./api-path.ts";
import {
  ConflictError,
  ConnectionError,
  RateLimitError,
  ServerError,
  SightlineError,
} from "./errors.ts";
import { retryDelay, wait } from "./retries.ts";
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
const VERSION = { "Tus-Resumable": "1.0.0" };

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
  const upload = new TusUpload(transport, [...indexPath, "uploads"], file, options);
  const path = await upload.send();
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

/** An upload whose requests go to the client's own service only, whatever its URL says. */
class TusUpload {
  readonly #transport: Transport;
  readonly #uploadsPath: ApiPath;
  readonly #file: Blob;
  readonly #options: UploadOptions;
  /** Undefined before the upload is created. */
  #url: string | undefined;
  /** Bytes that the service has; null if it must be asked. */
  #offset: number | null = null;
  /** Bytes that the service has had at least. */
  #stored = 0;

  constructor(transport: Transport, uploadsPath: ApiPath, file: Blob, options: UploadOptions) {
    this.#transport = transport;
    this.#uploadsPath = uploadsPath;
    this.#file = file;
    this.#options = options;
    this.#url = options.resumeUrl;
  }

  /** Sends all bytes, with retries. Returns the path of the upload. */
  async send(): Promise<ApiPath> {
    const signal = this.#transport.signalOf(this.#options.signal);
    let stored = 0;
    for (let retry = 0; ; retry++) {
      signal?.throwIfAborted();
      try {
        return await this.#sendRest();
      } catch (error) {
        signal?.throwIfAborted();
        if (this.#stored > stored) retry = 0;
        stored = this.#stored;
        const delay = this.#delayOf(retry);
        if (delay === null || !mayPass(error)) throw error;
        this.#options.onRetry?.();
        this.#offset = null;
        await wait(delay, signal);
      }
    }
  }

  async #sendRest(): Promise<ApiPath> {
    const { onProgress } = this.#options;
    const { size } = this.#file;
    const url = (this.#url ??= await this.#create());
    this.#options.onUrl?.(url);
    const path = this.#pathOf(url);
    this.#offset ??= await this.#ask(path);
    while (this.#offset < size) {
      onProgress?.(this.#offset, size);
      this.#offset = await this.#sendChunk(path, this.#offset);
      this.#stored = this.#offset;
    }
    onProgress?.(size, size);
    return path;
  }

  async #create(): Promise<string> {
    const { name, metadata } = this.#options;
    const { size, type } = this.#file;
    const fields = {
      filename: name,
      ...(type && { filetype: type }),
      ...(metadata && { metadata_str: JSON.stringify(metadata) }),
    };
    const response = await this.#request({
      method: "POST",
      path: this.#uploadsPath,
      headers: { "Upload-Length": String(size), "Upload-Metadata": encodeMetadata(fields) },
      repeatable: "safe", // an abandoned upload expires
    });
    const location = response.headers.get("Location");
    if (location === null) throw new SightlineError("The service gave the upload no URL.");
    this.#offset = 0;
    return new URL(location, this.#transport.urlOf(this.#uploadsPath)).href;
  }

  /** Asks the service how many bytes it has. */
  async #ask(path: ApiPath): Promise<number> {
    const offset = offsetOf(await this.#request({ method: "HEAD", path, headers: {} }));
    if (offset === null || offset > this.#file.size) throw new SightlineError(OTHER_FILE);
    return (this.#stored = offset);
  }

  async #sendChunk(path: ApiPath, start: number): Promise<number> {
    const { size } = this.#file;
    const body = this.#file.slice(start, start + CHUNK_BYTES);
    const response = await this.#request({
      method: "PATCH",
      path,
      headers: {
        "Content-Type": "application/offset+octet-stream",
        "Upload-Offset": String(start),
      },
      body,
      onUploadProgress: (sent) => this.#options.onProgress?.(start + sent, size),
    });
    const offset = offsetOf(response);
    if (offset === null || offset <= start || offset > start + body.size) {
      throw new SightlineError("The service didn't say how many bytes it has.");
    }
    return offset;
  }

  async #request(request: ApiRequest): Promise<Response> {
    const { signal, timeoutMs } = this.#options;
    const headers = { ...VERSION, ...request.headers };
    return this.#transport.open({ ...request, headers }, { signal, timeoutMs });
  }

  /** Returns the pause before a retry; null if there were enough. */
  #delayOf(retry: number): number | null {
    const { retryDelaysMs } = this.#options;
    if (retryDelaysMs) return retryDelaysMs[retry] ?? null;
    return retry < this.#transport.maxRetries ? retryDelay(retry, undefined, Math.random()) : null;
  }

  #pathOf(url: string): ApiPath {
    const { pathname } = new URL(url, this.#transport.urlOf(this.#uploadsPath));
    return [...this.#uploadsPath, pathname.split("/").at(-1) ?? ""];
  }
}

const OTHER_FILE = "The upload is of another file: the service has more bytes of it.";

function encodeMetadata(fields: Record<string, string>): string {
  const pairs = Object.entries(fields).map(([name, value]) => {
    const bytes = Array.from(new TextEncoder().encode(value), (byte) => String.fromCharCode(byte));
    return `${name} ${btoa(bytes.join(""))}`;
  });
  return pairs.join(",");
}

function offsetOf(response: Response): number | null {
  const text = response.headers.get("Upload-Offset");
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** Whether an upload may continue after an error: the offset is asked for in between. */
function mayPass(error: unknown): boolean {
  if (error instanceof RateLimitError) {
    return error.retryAfter !== undefined && retryDelay(0, error.retryAfter, 0) !== null;
  }
  return (
    error instanceof ConnectionError ||
    error instanceof ServerError ||
    error instanceof ConflictError
  );
}
