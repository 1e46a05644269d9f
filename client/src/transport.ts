import { type ApiPath, formatPath } from "./api-path.ts";
import { readError } from "./error-response.ts";
import { ConnectionError, SightlineError } from "./errors.ts";
import { type Fetch, type FetchOptions, fetchWithinOrigin } from "./redirects.ts";
import { isRetriedStatus, orAbort, retryDelay, wait } from "./retries.ts";
import type { RequestOptions, UploadProgress } from "./types.ts";

export interface SightlineOptions {
  /** Address of the service, such as `http://127.0.0.1:8787`. */
  url: string;
  apiKey: string;
  /** Sends the requests in place of the global `fetch`. */
  fetch?: Fetch;
  /** Retries of a request that may be sent more than once. Default 3. */
  maxRetries?: number;
  /** Time for the answer to each attempt, in ms. Default two minutes; none for files. */
  timeoutMs?: number;
  /** Ends everything when it aborts. */
  signal?: AbortSignal;
}

type QueryValue = string | number | boolean | readonly string[] | null | undefined;

export interface ApiRequest {
  method: "GET" | "HEAD" | "POST" | "PATCH" | "DELETE";
  path: ApiPath;
  query?: Readonly<Record<string, QueryValue>>;
  json?: unknown;
  /** A form, or a body with its content type in `headers`. */
  body?: FormData | Blob | ReadableStream<Uint8Array> | undefined;
  headers?: Record<string, string>;
  /** Gets the bytes of the body that were sent, of all, if the `fetch` of the options tells. */
  onUploadProgress?: UploadProgress | undefined;
  /**
   * `key`: it takes an `Idempotency-Key`. `safe`: it changes nothing that matters. `never`: the
   * caller decides after each attempt. Default: by the method.
   */
  repeatable?: "key" | "safe" | "never";
}

const TIMEOUT_MS = 120_000;

/** Sends requests, with retries, and makes errors of what isn't a success. */
export class Transport {
  readonly maxRetries: number;
  readonly #url: string;
  readonly #apiKey: string;
  readonly #fetch: Fetch;
  readonly #timeoutMs: number | undefined;
  readonly #signal: AbortSignal | undefined;

  constructor(options: SightlineOptions) {
    this.maxRetries = options.maxRetries ?? 3;
    if (!/^https?:/i.test(options.url)) {
      throw new TypeError(`"url" is ${options.url}: give the service's, with http:// or https://.`);
    }
    // bounded: a setting of the caller's own
    this.#url = options.url.replace(/\/+$/, "");
    this.#apiKey = options.apiKey;
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init));
    this.#timeoutMs = options.timeoutMs;
    this.#signal = options.signal;
  }

  /**
   * Returns the signal that ends a wait: of the call, or of everything.
   * @example
   * const stop = transport.signalOf(signal);
   */
  signalOf(signal: AbortSignal | undefined): AbortSignal | undefined {
    const signals = [signal, this.#signal].filter((one) => one !== undefined);
    return signals.length > 1 ? AbortSignal.any(signals) : signals[0];
  }

  /**
   * Returns the absolute URL of a path. Throws what `formatPath` throws.
   * @example
   * const url = transport.urlOf(["index", "trip"]);
   */
  urlOf(path: ApiPath): string {
    return this.#url + formatPath(path);
  }

  /**
   * Returns the JSON of a response.
   * @example
   * const { ok } = await transport.json<Health>({ method: "GET", path: ["health"] });
   */
  json<T>(request: ApiRequest, options: RequestOptions = {}): Promise<T> {
    return this.#send(request, options, async (response) => JSON.parse(await response.text()) as T);
  }

  /**
   * Returns the text of a response.
   * @example
   * const document = await transport.text({ method: "GET", path: ["openapi.json"] });
   */
  text(request: ApiRequest, options: RequestOptions = {}): Promise<string> {
    return this.#send(request, options, (response) => response.text());
  }

  /**
   * Returns a response whose body is unread.
   * @example
   * const { body } = await transport.open({ method: "GET", path: ["index", "trip", "export"] });
   */
  open(request: ApiRequest, options: RequestOptions = {}): Promise<Response> {
    return this.#send(request, options, (response) => Promise.resolve(response));
  }

  async #send<T>(
    request: ApiRequest,
    options: RequestOptions,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const signal = this.signalOf(options.signal);
    const key = options.idempotencyKey ?? crypto.randomUUID();
    const headers = request.repeatable === "key" ? { "Idempotency-Key": key } : {};
    for (let retry = 0; ; retry++) {
      signal?.throwIfAborted();
      try {
        return await this.#attempt(request, headers, { ...options, signal }, read);
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof SightlineError) || retry >= this.maxRetries) throw error;
        if (!isRetried(request, error)) throw error;
        const delay = retryDelay(retry, error.retryAfter, Math.random());
        if (delay === null) throw error;
        await wait(delay, signal);
      }
    }
  }

  /** Sends a request once. The time limit ends when `read` has ended. */
  async #attempt<T>(
    request: ApiRequest,
    headers: Record<string, string>,
    options: RequestOptions,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const timeout = new AbortController();
    const ms = options.timeoutMs ?? this.#timeoutMs ?? (request.body ? undefined : TIMEOUT_MS);
    const timer =
      ms === undefined
        ? undefined
        : setTimeout(() => timeout.abort(new Error(`No answer within ${ms} ms.`)), ms);
    const signal = AbortSignal.any([timeout.signal, ...(options.signal ? [options.signal] : [])]);
    const receive = async () => {
      const init = this.#init(request, headers, signal);
      const url = this.urlOf(request.path) + queryString(request);
      const response = await fetchWithinOrigin(this.#fetch, url, init);
      return response.ok ? read(response) : Promise.reject(await readError(response));
    };
    try {
      return await orAbort(receive(), signal);
    } catch (error) {
      if (error instanceof SightlineError || options.signal?.aborted) throw error;
      const message = `The service at ${this.#url} does not answer. ${reasonOf(error)}`;
      throw new ConnectionError(message, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  #init(request: ApiRequest, more: object, signal: AbortSignal) {
    const { method, json, body, headers, onUploadProgress } = request;
    const sent = json === undefined ? body : JSON.stringify(json);
    return {
      method,
      signal,
      headers: {
        ...(this.#apiKey !== "" && { "X-API-Key": this.#apiKey }),
        ...(json !== undefined && { "Content-Type": "application/json" }),
        ...headers,
        ...more,
      },
      ...(sent !== undefined && { body: sent }),
      ...(body instanceof ReadableStream && { duplex: "half" }),
      ...(onUploadProgress && { onUploadProgress }),
    } as FetchOptions;
  }
}

/**
 * Whether a request is sent another time after an error. A request that was refused for a limit
 * (429) did nothing; one whose `Idempotency-Key` is in use (409) has a response soon.
 */
function isRetried({ method, body, repeatable }: ApiRequest, error: SightlineError): boolean {
  if (body instanceof ReadableStream || repeatable === "never") return false;
  if (error.status === 429) return true;
  if (repeatable === "key" && error.status === 409) return error.retryAfter !== undefined;
  const isRepeatable = repeatable !== undefined || ["GET", "HEAD", "DELETE"].includes(method);
  return isRepeatable && (error instanceof ConnectionError || isRetriedStatus(error.status));
}

function queryString({ query = {} }: ApiRequest): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const item of Array.isArray(value) ? (value as string[]) : [value]) {
      if (item !== undefined && item !== null) parameters.append(name, String(item));
    }
  }
  return parameters.size === 0 ? "" : `?${parameters}`;
}

/** Returns the message of the deepest cause: Node puts the reason of a failed connection there. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message;
}
