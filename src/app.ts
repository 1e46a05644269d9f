import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { methodOverride } from "hono/method-override";
import { AppError, traceOf, ERRORS, ValidationError } from "./errors.ts";
import type { Context, AppEnv } from "./http/context.ts";
import { createRouter, jsonResponse } from "./http/endpoint.ts";
import { isNearly } from "./http/near-names.ts";
import { TUS_REQUEST_HEADERS, TUS_RESPONSE_HEADERS, tusHeaders } from "./http/tus.ts";
import { log } from "./log.ts";
import { accountRoutes } from "./routes/account.ts";
import { aggregateRoutes } from "./routes/aggregate.ts";
import { answerRoutes } from "./routes/answer.ts";
import { archiveRoutes } from "./routes/archives.ts";
import { assetRoutes } from "./routes/assets.ts";
import { eventRoutes } from "./routes/events.ts";
import { exportRoutes } from "./routes/exports.ts";
import { healthRoutes } from "./routes/health.ts";
import { importRoutes } from "./routes/imports.ts";
import { indexRoutes } from "./routes/indices.ts";
import { jobRoutes } from "./routes/jobs.ts";
import { judgmentRoutes } from "./routes/judgments.ts";
import { MCP_REQUEST_HEADERS, mcpRoutes } from "./routes/mcp.ts";
import { mediaRoutes } from "./routes/media.ts";
import { exampleSearchRoutes } from "./routes/search-by-example.ts";
import { searchRoutes } from "./routes/search.ts";
import { transcriptRoutes } from "./routes/transcripts.ts";
import { traverseRoutes } from "./routes/traverse.ts";
import { uploadRoutes } from "./routes/uploads.ts";
import { watchRoutes } from "./routes/watches.ts";

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

/** Headers that pages of other origins may send and read (CORS). */
const REQUEST_HEADERS =
  "X-API-Key, Content-Type, Idempotency-Key, Last-Event-ID, X-Request-Id, If-Match, " +
  "If-Modified-Since, If-None-Match, If-Range, If-Unmodified-Since, Range";
const RESPONSE_HEADERS =
  "Accept-Ranges, Allow, Content-Disposition, Content-Length, Content-Range, ETag, Last-Modified, " +
  "X-Request-Id, Retry-After, RateLimit, RateLimit-Policy, Server-Timing";

const toList = (header: string) => header.split(", ");

/** Sets the request id and the default headers of all responses, also errors and preflights. */
const responseHeaders: MiddlewareHandler<AppEnv> = async (c, next) => {
  const inbound = c.req.header("x-request-id") ?? "";
  c.set("requestId", /^[\w.-]{1,64}$/.test(inbound) ? inbound : crypto.randomUUID());
  await next();
  c.header("X-Request-Id", c.get("requestId"));
  const headers = new URL(c.req.url).protocol === "https:" ? HTTPS_HEADERS : HEADERS;
  for (const [name, value] of Object.entries(headers)) {
    if (!c.res.headers.has(name)) c.header(name, value);
  }
};

export const app = createRouter();

app.use(responseHeaders);

app.use("/index/:index_name/uploads/*", tusHeaders);
app.use(
  cors({
    origin: "*",
    allowHeaders: [REQUEST_HEADERS, MCP_REQUEST_HEADERS, TUS_REQUEST_HEADERS].flatMap(toList),
    exposeHeaders: [RESPONSE_HEADERS, TUS_RESPONSE_HEADERS].flatMap(toList),
    maxAge: 86_400,
  }),
);

/** Serves clients that can't send PATCH or DELETE, as tus requires. */
app.post(
  "/index/:index_name/uploads/:upload_id",
  methodOverride({ app, header: "X-HTTP-Method-Override" }),
);

/** Routers in the order of their operations in the OpenAPI document. */
export const ROUTERS = [
  healthRoutes,
  accountRoutes,
  indexRoutes,
  assetRoutes,
  uploadRoutes,
  transcriptRoutes,
  exportRoutes,
  importRoutes,
  traverseRoutes,
  archiveRoutes,
  searchRoutes,
  exampleSearchRoutes,
  aggregateRoutes,
  answerRoutes,
  judgmentRoutes,
  jobRoutes,
  eventRoutes,
  watchRoutes,
  mediaRoutes,
];
for (const router of ROUTERS) app.route("/", router);
const endpoints = ROUTERS.flatMap((router) => router.endpoints);
const dispatch = async (request: Request, c: Context) => app.fetch(request, c.env, c.executionCtx);
app.route("/", mcpRoutes(endpoints, dispatch));

/** Serves the document that `npm run openapi` makes of the endpoints, loaded when it is read. */
app.get("/openapi.json", async () => {
  const { default: document } = await import("../openapi.json", { with: { type: "json" } });
  return jsonResponse(document, 200);
});

app.onError(toErrorResponse);

function toErrorResponse(error: Error, c: Context): Response {
  if (error instanceof ValidationError) return jsonResponse({ detail: error.issues }, 422);
  if (error instanceof AppError) {
    const { status } = ERRORS[error.code];
    if (status >= 500) logFailure(error, c);
    return jsonResponse({ detail: error.message }, status, {
      ...(status === 401 && { "WWW-Authenticate": "ApiKey" }),
      ...(error.retryAfter !== undefined && { "Retry-After": String(error.retryAfter) }),
    });
  }
  logFailure(error, c);
  const detail = `Internal error. Report it with the request id ${c.get("requestId")}.`;
  return jsonResponse({ detail }, 500);
}

app.notFound(toNotFoundResponse);

/** Responds with 405 if the path is known with other methods, and with 404 otherwise. */
function toNotFoundResponse(c: Context): Response {
  const { method, path } = c.req;
  const allowed = app.routes
    .filter((route) => route.method !== "ALL" && matches(route.path.split("/"), path.split("/")))
    .map((route) => route.method);
  const meant = path
    .replace(/\/(?:indices|indexes)\b/i, "/index")
    .replace(/\/(?:ask|chat)\b/i, "/answer")
    .replace(/^(\/index\/[^/]+)\/assets$/i, "$1")
    .replace(/\/openapi$/i, "/openapi.json");
  const pages = [...endpoints, { method: "get", path: "/openapi.json" }];
  const nearest = pages.filter((one) => isNearPath(meant, one.path));
  const hasMethod = (one: { method: string }) => one.method === method.toLowerCase();
  const near = nearest.find(hasMethod) ?? (meant === path ? undefined : nearest[0]);
  const hint = near ? ` Perhaps you mean ${near.method.toUpperCase()} ${near.path}.` : "";
  if (allowed.length === 0) {
    return jsonResponse({ detail: `There is nothing at ${path}.${hint}` }, 404);
  }
  const head = allowed.includes("GET") ? ["HEAD"] : []; // comes with GET, as OPTIONS with any
  const methods = [...new Set([...allowed, ...head, "OPTIONS"])].join(", ");
  const isQuestion = /\/answer(?:_vqa)?\/?$/.test(path);
  const ask = isQuestion ? " Ask with GET, and the question as ?query=." : hint;
  const detail = `This path supports only ${methods}.${ask}`;
  return jsonResponse({ detail }, 405, { Allow: methods });
}

const isParameter = (name: string) => /^[:{]/.test(name);

/** Whether a path has the names of a route, and something for each of its parameters. */
function matches(
  route: readonly string[],
  path: readonly string[],
  isName = (part: string, name: string) => part === name,
): boolean {
  const isMatch = (name: string, i: number) =>
    isParameter(name) ? path[i] !== "" : isName(path[i]!, name);
  return route.length === path.length && route.every(isMatch);
}

/** Whether a path is nearly that of an endpoint, or nearly its end: `/video`. */
function isNearPath(path: string, route: string): boolean {
  const parts = path.split("/").filter(Boolean);
  const end = route.split("/").slice(-parts.length);
  return !end.every(isParameter) && matches(end, parts, isNearly);
}

function logFailure(error: Error, c: Context): void {
  log("error", "http.request_failed", {
    request: c.get("requestId"),
    method: c.req.method,
    cause: traceOf(error),
  });
}
