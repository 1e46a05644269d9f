import type { MiddlewareHandler } from "hono";
import type { AppEnv } from "./context.ts";

/** Headers of every response unless its route sets them: no response is a page or public. */
const HEADERS = {
  "Cache-Control": "private, no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
};

/** Adds HSTS, which RFC 6797 allows over TLS only. */
const HTTPS_HEADERS = { ...HEADERS, "Strict-Transport-Security": "max-age=31536000" };

/** Sets the request id and the default headers of all responses, also errors and preflights. */
export const responseHeaders: MiddlewareHandler<AppEnv> = async (c, next) => {
  const inbound = c.req.header("x-request-id") ?? "";
  c.set("requestId", /^[\w.-]{1,64}$/.test(inbound) ? inbound : crypto.randomUUID());
  await next();
  c.header("X-Request-Id", c.get("requestId"));
  const headers = new URL(c.req.url).protocol === "https:" ? HTTPS_HEADERS : HEADERS;
  for (const [name, value] of Object.entries(headers)) {
    if (!c.res.headers.has(name)) c.header(name, value);
  }
};
