import { WEBHOOKS } from "../config.ts";
import { AppError } from "../errors.ts";
import { USER_AGENT, secondsToWait } from "./guarded-fetch.ts";
import { requirePublicTarget, type Resolve } from "./public-url.ts";

export interface SignedWebhook {
  url: string;
  /** The message id, the same at each attempt; contains no full stop. */
  id: string;
  payload: string;
  /** Signing secrets (`whsec_…`), newest first. */
  secrets: string[];
}

/** Outcome of an attempt: `error` is null if the message was received, else a sentence. */
export interface DeliveryOutcome {
  /** The HTTP status; null without a response. */
  statusCode: number | null;
  error: string | null;
  /** Seconds to wait, from the receiver's `Retry-After`. */
  retryAfter?: number;
}

/**
 * Makes one attempt to deliver a message (Standard Webhooks 1.0.0,
 * https://www.standardwebhooks.com). A 2xx within `timeoutMs` counts as received. Doesn't follow
 * redirects, doesn't read bodies, doesn't throw.
 */
export async function postWebhook(
  message: SignedWebhook,
  allowed: string,
  now: number,
  timeoutMs: number = WEBHOOKS.timeoutMs,
  resolve?: Resolve,
): Promise<DeliveryOutcome> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const url = await requirePublicTarget(message.url, allowed, signal, resolve);
    const response = await fetch(url, {
      method: "POST",
      redirect: "manual",
      signal,
      headers: await webhookHeaders(message, now),
      body: message.payload,
    });
    await response.body?.cancel();
    return outcomeOf(response, now);
  } catch (cause) {
    if (cause instanceof AppError) return { statusCode: null, error: cause.message };
    const error = signal.aborted
      ? `No answer came within ${timeoutMs / 1000} s.`
      : "The receiver could not be reached, or broke off.";
    return { statusCode: null, error };
  }
}

export async function webhookHeaders(
  { id, payload, secrets }: Omit<SignedWebhook, "url">,
  now: number,
): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(now / 1000));
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${payload}`);
  const signatures = await Promise.all(secrets.map((secret) => sign(secret, signed)));
  return {
    "content-type": "application/json",
    "user-agent": USER_AGENT,
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.map((signature) => `v1,${signature}`).join(" "),
  };
}

async function sign(secret: string, content: Uint8Array): Promise<string> {
  const bytes = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign"]);
  return Buffer.from(await crypto.subtle.sign("HMAC", key, content)).toString("base64");
}

function outcomeOf(response: Response, now: number): DeliveryOutcome {
  const { status } = response;
  if (response.ok) return { statusCode: status, error: null };
  const why = status >= 300 && status < 400 ? ": redirects are not followed" : "";
  const error = `The receiver answered ${status}${why}.`;
  const after = response.headers.get("retry-after");
  const retryAfter = after === null ? Number.NaN : secondsToWait(after, now);
  return { statusCode: status, error, ...(retryAfter > 0 && { retryAfter }) };
}
