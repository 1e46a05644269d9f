import { WEBHOOKS } from "../config.ts";
import { AppError } from "../errors.ts";
import { USER_AGENT } from "./follow.ts";
import { requirePublicTarget, type Resolve } from "./resolve.ts";
import { secondsToWait } from "./retry-after.ts";

export interface WebhookMessage {
  url: string;
  /** The same at each attempt. Without a full stop. */
  id: string;
  /** The body, to the letter. */
  payload: string;
  /** `whsec_…`, the newest first. */
  secrets: string[];
}

/** How an attempt went: `problem` is null where it was received, else a sentence. */
export interface Outcome {
  /** Null where no answer came. */
  status: number | null;
  problem: string | null;
  /** Seconds after which the receiver would like to be asked again. */
  retryAfter?: number;
}

/**
 * One attempt to deliver a message, as Standard Webhooks has it (https://www.standardwebhooks.com, version
 * 1.0.0). Received is a 2xx within `timeoutMs`; redirects are not followed and bodies not read. Doesn't throw.
 */
export async function postWebhook(
  message: WebhookMessage,
  allowed: string,
  now: number,
  timeoutMs: number = WEBHOOKS.timeoutMs,
  resolve?: Resolve,
): Promise<Outcome> {
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
  } catch (error) {
    if (error instanceof AppError) return { status: null, problem: error.message };
    const problem = signal.aborted
      ? `No answer came within ${timeoutMs / 1000} s.`
      : "The receiver could not be reached, or broke off.";
    return { status: null, problem };
  }
}

export async function webhookHeaders(
  { id, payload, secrets }: Omit<WebhookMessage, "url">,
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

function outcomeOf(response: Response, now: number): Outcome {
  const { status } = response;
  if (response.ok) return { status, problem: null };
  const why = status >= 300 && status < 400 ? ": redirects are not followed" : "";
  const problem = `The receiver answered ${status}${why}.`;
  const after = response.headers.get("retry-after");
  const retryAfter = after === null ? Number.NaN : secondsToWait(after, now);
  return { status, problem, ...(retryAfter > 0 && { retryAfter }) };
}
