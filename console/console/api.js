import { formatDetail } from "./error-wording.js";

const STORED = "sightline-key";
const OFFLINE = "The service can't be reached. Check the connection and try again.";

let key = sessionStorage.getItem(STORED) ?? localStorage.getItem(STORED);

const FINAL = new Set([400, 403, 404, 413, 415, 422, 501]);

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

export function hasKey() {
  return key !== null;
}

/** Returns the header that authorises a request. */
export function keyHeader() {
  return { "X-API-Key": key ?? "" };
}

/** Checks a key with the service and stores it. Throws an `ApiError` if the key is invalid. */
export async function signIn(candidate, remember) {
  if (!/^[\u0021-\u007e]+$/.test(candidate)) {
    throw new ApiError(401, "This is not an API key: a key is one line without spaces.");
  }
  const before = key;
  key = candidate;
  try {
    await api("GET", "/index?limit=1");
  } catch (error) {
    key = before;
    throw error;
  }
  (remember ? localStorage : sessionStorage).setItem(STORED, key);
}

export function signOut() {
  key = null;
  sessionStorage.removeItem(STORED);
  localStorage.removeItem(STORED);
}

/** Returns `/index/<name>/<rest>`, with an optional query string. */
export function indexPath(name, rest = "", query = {}) {
  const search = new URLSearchParams(query).toString();
  return `/index/${encodeURIComponent(name)}${rest}${search && `?${search}`}`;
}

/**
 * Sends a request and resolves to the JSON body of the response, or to null for status 204. A `body`
 * is sent as JSON, or as it is if it has a `type`; a `form` as multipart. Throws an `ApiError`, or the
 * signal's reason.
 */
export async function api(method, path, { body, type, form, headers, signal } = {}) {
  const allHeaders = { ...keyHeader(), ...headers };
  if (body) allHeaders["Content-Type"] = type ?? "application/json";
  const content = form ?? (type ? body : body && JSON.stringify(body));
  const request = { method, headers: allHeaders, body: content, signal };
  let response;
  let text;
  try {
    response = await fetch(path, request);
    text = await response.text();
  } catch {
    signal?.throwIfAborted();
    throw new ApiError(0, OFFLINE);
  }
  return parseResponse(response.status, text, response.headers.get("Retry-After"));
}

/**
 * Yields the server-sent events of a response as `{ event, data }`, and `{}` for a heartbeat. Throws
 * as `api` does, before the first event.
 */
export async function* streamEvents(path, { signal } = {}) {
  const headers = { ...keyHeader(), Accept: "text/event-stream" };
  const response = await fetch(path, { headers, signal }).catch(() => null);
  signal?.throwIfAborted();
  if (!response) throw new ApiError(0, OFFLINE);
  if (!response.ok) {
    parseResponse(response.status, await response.text(), response.headers.get("Retry-After"));
  }
  let rest = "";
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + text).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const [, event, json] = /^event: (.*)\ndata: (.*)$/m.exec(block) ?? [];
      yield event ? { event, data: parse(json) } : {};
    }
  }
}

/** Yields the events of an answer up to `done`. Throws an `ApiError` of status 0 if it is cut off. */
export async function* streamAnswer(path, options) {
  for await (const { event, data } of streamEvents(path, options)) {
    if (event === "error") throw new ApiError(502, data.detail);
    yield { event, data };
    if (event === "done") return;
  }
  throw new ApiError(0, OFFLINE);
}

/**
 * Sends a form and reports the progress of the upload (0 to 1). Resolves and throws as `api` does.
 * Uses XMLHttpRequest, because `fetch` doesn't report upload progress.
 */
export function upload(path, form, { onProgress, signal }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", path);
    for (const [name, value] of Object.entries(keyHeader())) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(loaded / total));
    request.addEventListener("load", () => {
      try {
        const { status, responseText } = request;
        resolve(parseResponse(status, responseText, request.getResponseHeader("Retry-After")));
      } catch (error) {
        reject(error);
      }
    });
    request.addEventListener("error", () => reject(new ApiError(0, OFFLINE)));
    request.addEventListener("abort", () => reject(signal.reason));
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.send(form);
  });
}

function parseResponse(status, text, retryAfter) {
  const json = parse(text);
  if (status === 204) return null;
  if (status >= 200 && status < 300 && json !== undefined) return json;
  throw toApiError(status, text, retryAfter);
}

/** Makes an error of a response; status 0 means that there was none. Status 401 ends the session. */
export function toApiError(status, text = "", retryAfter = null) {
  if (status === 0) return new ApiError(0, OFFLINE);
  const message = formatDetail(parse(text)?.detail) ?? STATUSES[status] ?? unknownStatus(status);
  const error = new ApiError(status, message, retryAfter === null ? null : Number(retryAfter));
  if (status === 401) window.dispatchEvent(new CustomEvent("unauthorized", { detail: error }));
  return error;
}

/** What a proxy before the service means, whose responses have no `detail`. */
const STATUSES = {
  413: "The file is larger than this server accepts in one request.",
  502: OFFLINE,
  503: "The service is busy. Try again in a moment.",
  504: "The service took too long. Try again in a moment.",
};

function unknownStatus(status) {
  return `The service returned status ${status}.`;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
