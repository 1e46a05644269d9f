import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { AppError, traceOf, ERRORS, ValidationError } from "./errors.ts";
import type { Context, AppEnv } from "./http/context.ts";
import { registerErrors } from "./http/describe-endpoint.ts";
import { createRouter, toHonoPath, jsonResponse } from "./http/endpoint.ts";
import { addResponseExamples } from "./http/openapi-examples.ts";
import { TUS_REQUEST_HEADERS, TUS_RESPONSE_HEADERS, tusHeaders } from "./http/tus.ts";
import { log } from "./log.ts";
import { accountRoutes } from "./routes/account.ts";
import { aggregateRoutes } from "./routes/aggregate.ts";
import { answerRoutes } from "./routes/answer.ts";
import { archiveRoutes } from "./routes/archives.ts";
import { edlRoutes } from "./routes/edl.ts";
import { eventRoutes } from "./routes/events.ts";
import { imageRoutes } from "./routes/images.ts";
import { importRoutes } from "./routes/imports.ts";
import { indexRoutes } from "./routes/indices.ts";
import { jobRoutes } from "./routes/jobs.ts";
import { judgmentRoutes } from "./routes/judgments.ts";
import { keyRoutes } from "./routes/keys.ts";
import { MCP_REQUEST_HEADERS, mcpRoutes } from "./routes/mcp.ts";
import { mediaRoutes } from "./routes/media.ts";
import { metaRoutes } from "./routes/meta.ts";
import { OPENAPI_INFO } from "./routes/openapi-info.ts";
import { playbackCopyRoutes } from "./routes/playback-copies.ts";
import { qualityRoutes } from "./routes/quality.ts";
import { searchImageRoutes } from "./routes/search-image.ts";
import { searchVideoRoutes } from "./routes/search-video.ts";
import { searchRoutes } from "./routes/search.ts";
import { sourceRoutes } from "./routes/sources.ts";
import { transcriptRoutes } from "./routes/transcripts.ts";
import { traverseRoutes } from "./routes/traverse.ts";
import { uploadRoutes } from "./routes/uploads.ts";
import { videoRoutes } from "./routes/videos.ts";
import { watchMatchRoutes } from "./routes/watch-matches.ts";
import { watchRoutes } from "./routes/watches.ts";
import { webhookRoutes } from "./routes/webhooks.ts";

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
    allowHeaders: [
      "X-API-Key",
      "Content-Type",
      "Idempotency-Key",
      "Last-Event-ID",
      "X-Request-Id",
      "If-Match",
      "If-Modified-Since",
      "If-None-Match",
      "If-Range",
      "If-Unmodified-Since",
      "Range",
      ...MCP_REQUEST_HEADERS,
      ...TUS_REQUEST_HEADERS,
    ],
    exposeHeaders: [
      "Accept-Ranges",
      "Allow",
      "Content-Disposition",
      "Content-Length",
      "Content-Range",
      "ETag",
      "Last-Modified",
      "X-Request-Id",
      "Retry-After",
      "RateLimit",
      "RateLimit-Policy",
      "Server-Timing",
      ...TUS_RESPONSE_HEADERS,
    ],
    maxAge: 86_400,
  }),
);

app.route("/", metaRoutes);
app.route("/", accountRoutes);
app.route("/", keyRoutes);
app.route("/", indexRoutes);
app.route("/", videoRoutes);
app.route("/", playbackCopyRoutes);
app.route("/", imageRoutes);
app.route("/", uploadRoutes);
app.route("/", transcriptRoutes);
app.route("/", edlRoutes);
app.route("/", importRoutes);
app.route("/", sourceRoutes);
app.route("/", traverseRoutes);
app.route("/", archiveRoutes);
app.route("/", searchRoutes);
app.route("/", aggregateRoutes);
app.route("/", searchImageRoutes);
app.route("/", searchVideoRoutes);
app.route("/", answerRoutes);
app.route("/", judgmentRoutes);
app.route("/", qualityRoutes);
app.route("/", jobRoutes);
app.route("/", eventRoutes);
app.route("/", watchRoutes);
app.route("/", watchMatchRoutes);
app.route("/", webhookRoutes);
app.route("/", mediaRoutes);
app.route(
  "/",
  mcpRoutes(async (request, c) => app.fetch(request, c.env, c.executionCtx)), // tools call the API
);

app.openAPIRegistry.registerComponent("securitySchemes", "ApiKey", {
  type: "apiKey",
  in: "header",
  name: "X-API-Key",
  description: "An API key. The first one of an account is made by `npm run key`.",
});
registerErrors(app.openAPIRegistry);

/** The OpenAPI document, which takes 0.1 s to make. */
let cachedDocument: ReturnType<typeof app.getOpenAPI31Document> | undefined;

/** Returns the OpenAPI document, made from the schemas that validate the requests. */
export function openApiDocument() {
  if (cachedDocument) return cachedDocument;
  const document = app.getOpenAPI31Document({ ...OPENAPI_INFO, openapi: "3.1.0" });
  addResponseExamples(document);
  return (cachedDocument = document);
}

app.get("/openapi.json", () => jsonResponse(openApiDocument(), 200));

app.onError(toErrorResponse);

function toErrorResponse(error: Error, c: Context): Response {
  if (error instanceof ValidationError) return jsonResponse({ detail: error.issues }, 422);
  if (error instanceof AppError) {
    const { status } = ERRORS[error.code];
    if (status >= 500) logFailure(error, c);
    const response = jsonResponse({ detail: error.message }, status);
    if (status === 401) response.headers.set("WWW-Authenticate", "ApiKey");
    if (error.retryAfter !== undefined) {
      response.headers.set("Retry-After", String(error.retryAfter));
    }
    return response;
  }
  logFailure(error, c);
  const detail = `Internal error. Report it with the request id ${c.get("requestId")}.`;
  return jsonResponse({ detail }, 500);
}

app.notFound(toNotFoundResponse);

/** Responds with 405 if the path is known with other methods, and with 404 otherwise. */
function toNotFoundResponse(c: Context): Response {
  const allowed = app.routes
    .filter(({ method, path }) => method !== "ALL" && matches(path, c.req.path))
    .map(({ method }) => method);
  if (allowed.length === 0) {
    return jsonResponse({ detail: `There is nothing at ${c.req.path}.` }, 404);
  }
  const methods = listMethods(allowed).join(", ");
  const response = jsonResponse({ detail: `This path supports only ${methods}.` }, 405);
  response.headers.set("Allow", methods);
  return response;
}

/** Adds the methods that come with others: HEAD with GET, and OPTIONS with any. */
function listMethods(methods: string[]): string[] {
  const head = methods.includes("GET") ? ["HEAD"] : [];
  return [...new Set([...methods, ...head, "OPTIONS"])];
}

function matches(route: string, path: string): boolean {
  const pattern = toHonoPath(route).split("/");
  const parts = path.split("/");
  return (
    pattern.length === parts.length &&
    pattern.every((name, i) => (name.startsWith(":") ? parts[i] !== "" : name === parts[i]))
  );
}

function logFailure(error: Error, c: Context): void {
  log("error", "http.request_failed", {
    request: c.get("requestId"),
    method: c.req.method,
    cause: traceOf(error),
  });
}
