import { IDEMPOTENCY } from "../config.ts";
import { AppError, traceOf, invalid } from "../errors.ts";
import { withLeaseRenewal } from "../lease.ts";
import { log } from "../log.ts";
import {
  type Attempt,
  beginAttempt,
  dropAttempt,
  type EarlierAttempt,
  storeResponse,
  renewAttempt,
} from "../store/d1/idempotency.ts";
import type { Context } from "./context.ts";
import * as z from "./zod.ts";

const HEADER = "idempotency-key";

/** A string of RFC 9651; the quotation marks are optional, because many clients omit them. */
const VALUE = /^(?:"([ !\x23-\x5b\x5d-\x7e]{1,255})"|([!\x23-\x5b\x5d-\x7e]{1,255}))$/;

export const idempotencyHeaders = z.object({
  [HEADER]: z
    .string()
    .regex(VALUE, "1 to 255 printable characters without quotation marks and backslashes")
    .optional()
    .openapi({
      description:
        "Makes retries safe: for a day, a repeated request with the same key, such as a UUID, gets " +
        "the response to the first one.",
    }),
});

/**
 * Runs `handle` once per account and `Idempotency-Key`
 * (draft-ietf-httpapi-idempotency-key-header-07). For a day, later requests with the key get the
 * stored response, or `conflict` if the response held a secret. Errors of `handle` aren't stored:
 * nothing was created, and the client may retry.
 *
 * Throws a `ValidationError` if the key was used for a different request, and `conflict` while the
 * first request is running.
 */
export async function runOnce(
  c: Context,
  creates: "record" | "secret",
  body: Uint8Array,
  handle: () => Promise<Response>,
): Promise<Response> {
  const [, quoted, bare] = VALUE.exec(c.req.header(HEADER) ?? "") ?? [];
  const key = quoted ?? bare;
  if (key === undefined) return handle();
  const db = c.env.DB;
  const { accountId } = c.get("caller");
  const fingerprint = await computeFingerprint(c.req.raw, body);
  const attempt: Attempt = { accountId, key, fingerprint, leaseOwner: crypto.randomUUID() };
  const earlier = await beginAttempt(db, attempt, Date.now());
  if (earlier) return replayResponse(earlier, fingerprint);
  const renew = () => renewAttempt(db, attempt, Date.now());
  let response: Response;
  try {
    response = await withLeaseRenewal(renew, IDEMPOTENCY.renewMs, handle);
  } catch (error) {
    await dropAttempt(db, attempt).catch(ignoreUntilExpired);
    throw error;
  }
  try {
    const storedBody = creates === "secret" ? null : await response.clone().text();
    await storeResponse(db, attempt, response.status, storedBody);
  } catch (error) {
    log("warn", "http.response_not_stored", { request: c.get("requestId"), cause: traceOf(error) });
  }
  return response;
}

function replayResponse(
  { fingerprint, leasedUntil, status, body }: EarlierAttempt,
  requestFingerprint: string,
): Response {
  if (fingerprint !== requestFingerprint) {
    throw invalid(["header", HEADER], "value_error", "The key was used for another request");
  }
  if (status === null) {
    const retryAfter = Math.max(1, Math.ceil((leasedUntil - Date.now()) / 1000));
    const message = "The first request with this Idempotency-Key is still running. Retry later.";
    throw new AppError("conflict", message, { retryAfter });
  }
  if (body === null) {
    const message = "This request has succeeded before. Its secret was shown only once.";
    throw new AppError("conflict", message);
  }
  const headers = { "content-type": "application/json; charset=utf-8" };
  return new Response(body, { status, headers });
}

/**
 * Hashes what makes two requests equal: method, URL, media type and length of the body, and a JSON
 * body itself. An upload's bytes aren't hashed. The multipart boundary is ignored, because clients
 * choose a new one for each request.
 */
async function computeFingerprint(
  { method, url, headers }: Request,
  body: Uint8Array,
): Promise<string> {
  const { pathname, search } = new URL(url);
  const type = headers.get("content-type")?.split(";")[0]!.trim().toLowerCase();
  const parts = [method, pathname, search, type, headers.get("content-length")];
  const bytes = Buffer.concat([new TextEncoder().encode(JSON.stringify(parts)), body]);
  return Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("base64url");
}

/** Ignores that an attempt can't be dropped: its lease expires by itself. */
function ignoreUntilExpired(): void {}
