const STORED = "sightline-key";
const OFFLINE = "The service can't be reached. Check the connection and try again.";

let key = sessionStorage.getItem(STORED) ?? localStorage.getItem(STORED);

/** An answer that is not a success: `message` is the API's own sentence; status 0 is no answer. */
export class ApiError extends Error {
  constructor(status, message, retryAfter = null) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

export function hasKey() {
  return key !== null;
}

/** Tries a key, and keeps it where the service knows it. Throws an `ApiError` where it doesn't. */
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

/** `/index/<name>/<rest>`, and a query where one is given. */
export function indexPath(name, rest = "", query = {}) {
  const search = new URLSearchParams(query).toString();
  return `/index/${encodeURIComponent(name)}${rest}${search && `?${search}`}`;
}

/** One request; resolves to the JSON of the answer. Throws an `ApiError`, or the signal's reason. */
export async function api(method, path, { body, signal } = {}) {
  const headers = { "X-API-Key": key ?? "" };
  if (body) headers["Content-Type"] = "application/json";
  let response;
  let text;
  try {
    response = await fetch(path, { method, headers, body: body && JSON.stringify(body), signal });
    text = await response.text();
  } catch {
    signal?.throwIfAborted();
    throw new ApiError(0, OFFLINE);
  }
  return read(response.status, text, response.headers.get("Retry-After"));
}

/**
 * A request whose answer comes as server-sent events: yields each as `{ event, data }`, and `{}` for what
 * only shows that the connection stands. Throws as `api` does, before the first.
 */
export async function* events(path, { signal } = {}) {
  const headers = { "X-API-Key": key ?? "", Accept: "text/event-stream" };
  const response = await fetch(path, { headers, signal }).catch(() => null);
  signal?.throwIfAborted();
  if (!response) throw new ApiError(0, OFFLINE);
  if (!response.ok) {
    read(response.status, await response.text(), response.headers.get("Retry-After"));
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

/** The events of an answer, up to its `done`. Throws an `ApiError` of status 0 where it ends before. */
export async function* listen(path, options) {
  for await (const { event, data } of events(path, options)) {
    if (event === "error") throw new ApiError(502, data.detail);
    yield { event, data };
    if (event === "done") return;
  }
  throw new ApiError(0, OFFLINE);
}

/**
 * Sends a form, telling its progress (0 to 1) as bytes leave; resolves and throws as `api` does.
 * `fetch` can't tell how much of a body is sent, so this is an XMLHttpRequest.
 */
export function upload(path, form, { onProgress, signal }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", path);
    request.setRequestHeader("X-API-Key", key ?? "");
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(loaded / total));
    request.addEventListener("load", () => {
      try {
        const { status, responseText } = request;
        resolve(read(status, responseText, request.getResponseHeader("Retry-After")));
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

function read(status, text, retryAfter) {
  const json = parse(text);
  if (status >= 200 && status < 300 && json !== undefined) return json;
  const message = sentence(json?.detail) ?? `The service answered ${status} without saying why.`;
  const error = new ApiError(status, message, retryAfter === null ? null : Number(retryAfter));
  if (status === 401) window.dispatchEvent(new CustomEvent("refused", { detail: error }));
  throw error;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sentence(detail) {
  if (!Array.isArray(detail)) return detail;
  return detail.map(({ loc, msg }) => `${loc.slice(1).join(".")}: ${msg}`).join("; ");
}
