import { z } from "@hono/zod-openapi";
import { IDEMPOTENCY } from "../config.ts";
import { AppError, traceOf, invalid } from "../errors.ts";
import { log } from "../log.ts";
import { renewing } from "../renewing.ts";
import {
  type Attempt,
  beginAttempt,
  dropAttempt,
  type Earlier,
  keepAnswer,
  renewAttempt,
} from "../store/idempotency.ts";
import type { Context } from "./endpoint.ts";

const HEADER = "idempotency-key";

/** A string as RFC 9651 writes it, or, as many clients do, without the quotation marks. */
const VALUE = /^(?:"([ !\x23-\x5b\x5d-\x7e]{1,255})"|([!\x23-\x5b\x5d-\x7e]{1,255}))$/;

export const idempotencyHeaders = z.object({
  [HEADER]: z
    .string()
    .regex(VALUE, '1 to 255 printable characters but " and \\')
    .optional()
    .openapi({ description: "The same key, the same request: the first answer. docs/accounts.md" }),
});

/**
 * Does `act` once for each `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07) of an account: later
 * requests with it get the first one's answer, for a day, or, where that is `secret`, are told that it was given.
 * What `act` throws isn't kept: it has added nothing, and may be tried again. Throws a `ValidationError` where the
 * key was used for another request, and `conflict` while the first is under way.
 */
export async function once(
  c: Context,
  adds: "record" | "secret",
  body: Uint8Array,
  act: () => Promise<Response>,
): Promise<Response> {
  const [, quoted, bare] = VALUE.exec(c.req.header(HEADER) ?? "") ?? [];
  const key = quoted ?? bare;
  if (key === undefined) return act();
  const db = c.env.DB;
  const { accountId } = c.get("caller");
  const fingerprint = await fingerprintOf(c.req.raw, body);
  const attempt: Attempt = { accountId, key, fingerprint, holder: crypto.randomUUID() };
  const earlier = await beginAttempt(db, attempt, Date.now());
  if (earlier) return answerAgain(earlier, fingerprint);
  const renew = () => renewAttempt(db, attempt, Date.now());
  let response: Response;
  try {
    response = await renewing(renew, IDEMPOTENCY.renewMs, act);
  } catch (error) {
    // Where that fails, too, the lease runs out.
    await dropAttempt(db, attempt).catch(() => undefined);
    throw error;
  }
  try {
    const kept = adds === "secret" ? null : await response.clone().text();
    await keepAnswer(db, attempt, response.status, kept);
  } catch (error) {
    log("warn", "http.answer_not_kept", { request: c.get("requestId"), cause: traceOf(error) });
  }
  return response;
}

function answerAgain({ fingerprint, heldUntil, status, body }: Earlier, own: string): Response {
  if (fingerprint !== own) {
    throw invalid(["header", HEADER], "value_error", "The key was used for another request");
  }
  if (status === null) {
    const retryAfter = Math.max(1, Math.ceil((heldUntil - Date.now()) / 1000));
    const message = "The first request with this Idempotency-Key is still being worked on; wait.";
    throw new AppError("conflict", message, { retryAfter });
  }
  if (body === null) {
    const message = "This was done before. Its answer held a secret, which was told only once.";
    throw new AppError("conflict", message);
  }
  const headers = { "content-type": "application/json; charset=utf-8" };
  return new Response(body, { status, headers });
}

/**
 * What makes two requests the same: method, URL, type and length of the body, and the body itself where it is
 * JSON. An upload's isn't looked at, and its type is without the boundary, which differs each time.
 */
async function fingerprintOf({ method, url, headers }: Request, body: Uint8Array): Promise<string> {
  const { pathname, search } = new URL(url);
  const type = headers.get("content-type")?.split(";")[0]!.trim().toLowerCase();
  const made = [method, pathname, search, type, headers.get("content-length")];
  const bytes = Buffer.concat([new TextEncoder().encode(JSON.stringify(made)), body]);
  return Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("base64url");
}
