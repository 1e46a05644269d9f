import type { z } from "zod";
import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import type { JsonObject } from "../types.ts";
import { fetchUpTo } from "./bounded.ts";
import { refusal } from "./refusal.ts";

export interface Question<Schema extends z.ZodType> {
  /** Who is asked, as messages name them. */
  who: string;
  url: string;
  query?: Record<string, string>;
  schema: Schema;
  headers?: Record<string, string>;
  /** Headers that go to the URL's own origin only. */
  secrets?: Record<string, string>;
  /** Sent as JSON by POST; redirects are not followed then. */
  body?: JsonObject;
  /** What an answer, of whatever status, means that says in its own way what went wrong. */
  explain?: (body: unknown, status: number) => AppError | undefined;
}

export interface Answer<Value> {
  value: Value;
  /** For the next time, if the server gave any. */
  validators: JsonObject | null;
  /** Of its `Link` header (RFC 8288), absolute. */
  next: string | null;
}

/**
 * JSON over HTTP, guarded as downloads are, within `LIMITS.askMs` and `askBytes`. Throws
 * `blocked_address`, `rate_limited` (429, with the seconds to wait), `original_removed` (404, 410),
 * `download_refused` (any other 4xx), `upstream_unavailable` (5xx, no connection), `upstream_timeout`,
 * `upstream_failed` (no JSON, too much of it, or of another shape), and what `explain` says.
 */
export async function askJson<Schema extends z.ZodType>(
  env: { FETCH_ALLOW: string },
  question: Question<Schema>,
): Promise<z.output<Schema>> {
  const answer = await askChanges(env, question, null);
  if (answer === "unchanged") throw failed(question.who, "answered 304 to a plain question");
  return answer.value;
}

/** As `askJson`, but not again what is as it was when it came with these validators. */
export async function askChanges<Schema extends z.ZodType>(
  env: { FETCH_ALLOW: string },
  question: Question<Schema>,
  validators: JsonObject | null,
): Promise<Answer<z.output<Schema>> | "unchanged"> {
  const { who, schema, explain } = question;
  const { response, text } = await fetchText(env.FETCH_ALLOW, question, validators);
  if (response.status === 304) return "unchanged";
  const body = parseJson(text);
  const meant = explain?.(body, response.status);
  if (meant) throw meant;
  if (!response.ok) throw refusal(who, response);
  if (body === undefined) throw failed(who, "answered something that is no JSON");
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw failed(who, "answered in an unknown shape", parsed.error);
  return { value: parsed.data, validators: validatorsOf(response), next: nextOf(response) };
}

async function fetchText(
  allowed: string,
  question: Question<z.ZodType>,
  validators: JsonObject | null,
): Promise<{ response: Response; text: string }> {
  const { etag, lastModified } = validators ?? {};
  const headers = {
    accept: "application/json",
    ...question.headers,
    ...(typeof etag === "string" && { "if-none-match": etag }),
    ...(typeof lastModified === "string" && { "if-modified-since": lastModified }),
  };
  const { who, secrets, query } = question;
  const url = query ? `${question.url}?${new URLSearchParams(query).toString()}` : question.url;
  const body = question.body && JSON.stringify(question.body);
  const asked = { who, url, sent: { headers, secrets, body } };
  const { response, bytes, whole } = await fetchUpTo(allowed, asked, () => LIMITS.askBytes);
  if (!whole) throw failed(who, `answered with more than ${LIMITS.askBytes} bytes`);
  return { response, text: new TextDecoder().decode(bytes) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function failed(who: string, what: string, cause?: unknown): AppError {
  return new AppError("upstream_failed", `${who} ${what}.`, { cause });
}

function validatorsOf(response: Response): JsonObject | null {
  const etag = response.headers.get("etag");
  const lastModified = response.headers.get("last-modified");
  if (etag) return { etag };
  return lastModified ? { lastModified } : null;
}

function nextOf(response: Response): string | null {
  const link = response.headers.get("link") ?? "";
  return /<([^>]*)>\s*;[^,]*\brel="?next"?/.exec(link)?.[1] ?? null;
}
