import { Transport } from "../packages/sightline/transport.js";
import { ApiError, toApiError } from "./api-error.js";
import { apiPath } from "./api-path.js";

const STORED = "sightline-key";

let key = sessionStorage.getItem(STORED) ?? localStorage.getItem(STORED);
let transport = openTransport();

export function hasKey() {
  return key !== null;
}

/** Returns the stored API key, or null. */
export function storedKey() {
  return key;
}

/** Returns what sends the client's requests with the stored key. It repeats none by itself. */
export function apiTransport() {
  return transport;
}

function openTransport() {
  const url = location.origin;
  return new Transport({ url, apiKey: key ?? "", maxRetries: 0, fetch: fetchAny });
}

/** Sends a request as `fetch` does, and reports what was sent of its body to `onUploadProgress`. */
async function fetchAny(url, init) {
  if (!init.onUploadProgress) return fetch(url, init);
  const { fetchWithProgress } = await import("./upload-fetch.js");
  return fetchWithProgress(url, init);
}

function setKey(newKey) {
  key = newKey;
  transport = openTransport();
}

/** Checks a key with the service and stores it. Throws an `ApiError` if the key is invalid. */
export async function signIn(candidate, remember) {
  if (!/^[\u0021-\u007e]+$/.test(candidate)) {
    throw new ApiError(401, "This is not an API key: a key is one line without spaces.");
  }
  const before = key;
  setKey(candidate);
  try {
    await api("GET", apiPath(["index"], { limit: 1 }));
  } catch (error) {
    setKey(before);
    throw error;
  }
  (remember ? localStorage : sessionStorage).setItem(STORED, key);
}

export function signOut() {
  setKey(null);
  sessionStorage.removeItem(STORED);
  localStorage.removeItem(STORED);
}

/**
 * Sends a request to a target of `apiPath` and resolves to the JSON of the response. A `body` is sent
 * as JSON, or as it is if it has a `type`; a `form` as multipart, whose `onProgress` gets the share
 * that was sent, 0 to 1. Throws an `ApiError`, or the signal's reason.
 */
export function api(method, target, options = {}) {
  return send("json", method, target, options);
}

/** Sends a request as `api` does, and resolves to the text of the response. */
export function apiText(method, target, options = {}) {
  return send("text", method, target, options);
}

/** Sends a request as `api` does, and resolves to the response, whose body is unread. */
export function apiResponse(method, target, options = {}) {
  return send("open", method, target, options);
}

async function send(read, method, target, { body, type, form, headers, onProgress, signal }) {
  const onUploadProgress = onProgress && ((sent, total) => onProgress(sent / total));
  const content = type
    ? { body, headers: { ...headers, "Content-Type": type } }
    : { body: form, headers, json: body };
  try {
    return await transport[read]({ method, ...target, ...content, onUploadProgress }, { signal });
  } catch (error) {
    throw toApiError(error);
  }
}

/**
 * Opens a stream of server-sent events and resolves to its events, `{ event, data }`. Throws as `api`
 * does.
 */
export async function openEvents(target, { signal } = {}) {
  const { readEvents } = await import("../packages/sightline/server-sent-events.js");
  const headers = { Accept: "text/event-stream" };
  return readEvents(await apiResponse("GET", target, { headers, signal }), signal);
}

/** Yields the events of an answer up to `done`. Throws an `ApiError` of status 0 if it is cut off. */
export async function* streamAnswer({ path, query }, options) {
  const { streamAnswer: stream } = await import("../packages/sightline/answers.js");
  try {
    yield* stream(transport, path, query, options);
  } catch (error) {
    throw toApiError(error);
  }
}
