import type * as z from "zod";
import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import type { JsonObject } from "../types.ts";
import { fetchLimited, toUpstreamError } from "./guarded-fetch.ts";

export interface JsonRequest<Schema extends z.ZodType> {
  serverName: string;
  url: string;
  query?: Record<string, string>;
  schema: Schema;
  headers?: Record<string, string>;
  secrets?: Record<string, string>;
  /** Sent as JSON by POST; redirects are not followed then. */
  body?: JsonObject;
  /** Reads an error from a response body of any status; undefined if the body reports none. */
  explain?: (body: unknown, status: number) => AppError | undefined;
}

export interface JsonResponse<Value> {
  value: Value;
  /** URL of the next page, from the `Link` header; null without one. */
  next: string | null;
}

/**
 * Fetches JSON from a public address, within `LIMITS.responseMs` and `LIMITS.responseBytes`. Throws
 * `blocked_address`, `rate_limited` (429, with the seconds to wait), `original_removed` (404, 410),
 * `download_refused` (any other 4xx), `upstream_unavailable` (5xx, no connection),
 * `upstream_timeout`, `upstream_failed` (no JSON, too large, or not the schema's shape), and the
 * error that `explain` returns.
 */
export async function fetchJson<Schema extends z.ZodType>(
  env: { FETCH_ALLOW: string },
  request: JsonRequest<Schema>,
): Promise<z.output<Schema>> {
  return (await fetchJsonPage(env, request)).value;
}

/** Fetches like `fetchJson`, with the URL of the next page. */
export async function fetchJsonPage<Schema extends z.ZodType>(
  env: { FETCH_ALLOW: string },
  request: JsonRequest<Schema>,
): Promise<JsonResponse<z.output<Schema>>> {
  const { serverName, schema, explain } = request;
  const { response, text } = await fetchText(env.FETCH_ALLOW, request);
  const body = parseJson(text);
  const explained = explain?.(body, response.status);
  if (explained) throw explained;
  if (!response.ok) throw toUpstreamError(serverName, response);
  if (body === undefined) throw failed(serverName, "did not answer with JSON");
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw failed(serverName, "answered in an unknown shape", parsed.error);
  return { value: parsed.data, next: parseNextLink(response.headers.get("link") ?? "") };
}

async function fetchText(
  allowed: string,
  request: JsonRequest<z.ZodType>,
): Promise<{ response: Response; text: string }> {
  const headers = { accept: "application/json", ...request.headers };
  const { serverName, secrets, query } = request;
  const url = query ? `${request.url}?${new URLSearchParams(query).toString()}` : request.url;
  const body = request.body && JSON.stringify(request.body);
  const limited = { serverName, url, options: { headers, secrets, body } };
  const { response, bytes, isComplete } = await fetchLimited(
    allowed,
    limited,
    () => LIMITS.responseBytes,
  );
  if (!isComplete)
    throw failed(serverName, `answered with more than ${LIMITS.responseBytes} bytes`);
  return { response, text: new TextDecoder().decode(bytes) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function failed(serverName: string, problem: string, cause?: unknown): AppError {
  return new AppError("upstream_failed", `${serverName} ${problem}.`, { cause });
}

/** Returns the URL with `rel="next"` of a `Link` header, null without one. */
export function parseNextLink(header: string): string | null {
  const links = [...header.matchAll(/<([^<>]*)>\s*;([^<>,]*)/g)];
  return links.find(([, , parameters]) => /\brel="?next\b/.test(parameters!))?.[1] ?? null;
}
