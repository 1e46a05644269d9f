import type { MiddlewareHandler } from "hono";
import type { AppEnv } from "./endpoint.ts";

/** Unless the route says otherwise: nothing here is a page, and all of it is somebody's. */
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

/** RFC 6797 has it only over TLS. */
const OVER_TLS = { ...HEADERS, "Strict-Transport-Security": "max-age=31536000" };

/** What every answer carries, refusals, failures and preflights included. */
export const answerHeaders: MiddlewareHandler<AppEnv> = async (c, next) => {
  const inbound = c.req.header("x-request-id") ?? "";
  c.set("requestId", /^[\w.-]{1,64}$/.test(inbound) ? inbound : crypto.randomUUID());
  await next();
  c.header("X-Request-Id", c.get("requestId"));
  const headers = new URL(c.req.url).protocol === "https:" ? OVER_TLS : HEADERS;
  for (const [name, value] of Object.entries(headers)) {
    if (!c.res.headers.has(name)) c.header(name, value);
  }
};
