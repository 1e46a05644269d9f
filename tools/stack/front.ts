import {
  Agent,
  createServer,
  type IncomingMessage,
  request as forward,
  type RequestOptions,
  type Server,
  type ServerResponse,
} from "node:http";
import { pipeline, Transform } from "node:stream";

export interface FrontOptions {
  /** Port of the runtime on 127.0.0.1. */
  runtimePort: number;
  /** Largest request body in bytes. */
  maxBodyBytes: number;
  /** Gets a line for each finished request: method, path, status and time. */
  onRequest: (line: string) => void;
}

/** Paths of the runtime itself: its stores, without a token, and its cron trigger. */
const RUNTIME_PATH = /^\/+(cdn-cgi|__cf_local)(\/|$)/i;
/** Status of a request whose client went away before the answer, as nginx logs it. */
const CLIENT_CLOSED_REQUEST = 499;
/** Headers of one connection (RFC 9110, section 7.6.1). */
const HOP_HEADERS = new Set(["connection", "expect", "keep-alive", "proxy-connection", "upgrade"]);

/**
 * Makes a server that stands for Cloudflare's edge before the local runtime. Refuses bodies that
 * the edge refuses, hides the runtime's own paths, and forwards the rest as a stream. Logs no query
 * and no token of a media URL.
 */
export function createFront({ runtimePort, maxBodyBytes, onRequest }: FrontOptions): Server {
  const runtime = { host: "127.0.0.1", port: runtimePort, agent: new Agent({ keepAlive: true }) };
  const server = createServer((request, response) => {
    const startedAt = Date.now();
    const path = pathOf(request);
    response.on("close", () => {
      const ms = Date.now() - startedAt;
      const status = response.headersSent ? response.statusCode : CLIENT_CLOSED_REQUEST;
      onRequest(`${status} ${request.method} ${toLoggedPath(path)} ${ms} ms`);
    });
    const length = Number(request.headers["content-length"] ?? 0);
    if (path === null) refuse(response, 400, "The request's URL is malformed.");
    else if (RUNTIME_PATH.test(path)) refuse(response, 404, "There is nothing here.");
    else if (length > maxBodyBytes) refuse(response, 413, tooLarge(maxBodyBytes));
    else forwardRequest(request, response, runtime, maxBodyBytes);
  });
  server.requestTimeout = 0; // an upload may take as long as it needs
  // Reads on after the answer: closing a connection with unread bytes would reset it.
  server.on("clientError", (_, socket) => {
    if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
    socket.resume();
  });
  return server;
}

function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  runtime: Pick<RequestOptions, "host" | "port" | "agent">,
  maxBodyBytes: number,
): void {
  const { method, url, headers } = request;
  const upstream = forward({
    ...runtime,
    method,
    path: url,
    headers: withoutHopHeaders(headers),
  });
  upstream.on("response", (answer) => {
    const answerHeaders = withoutHopHeaders(answer.headersDistinct);
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answerHeaders);
    response.flushHeaders();
    pipeline(answer, response, () => undefined);
  });
  upstream.on("error", () => refuse(response, 502, "The Worker doesn't answer."));
  response.on("close", () => upstream.destroy());
  const onExcess = () => refuse(response, 413, tooLarge(maxBodyBytes));
  pipeline(request, limitBytes(maxBodyBytes, onExcess), upstream, () => undefined);
}

/** Ends a response with an error, or breaks it off if it has begun. */
function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) response.destroy();
  else {
    response.writeHead(status, { "content-type": "text/plain", connection: "close" });
    response.end(`${message}\n`);
  }
}

function tooLarge(maxBodyBytes: number): string {
  return (
    `The body is larger than ${maxBodyBytes / 1e6} MB, which most Cloudflare plans refuse. ` +
    "Upload the file in parts (docs/uploads.md), or set MAX_BODY_MB."
  );
}

function withoutHopHeaders<Headers extends object>(headers: Headers): Headers {
  const entries = Object.entries(headers).filter(([name]) => !HOP_HEADERS.has(name));
  return Object.fromEntries(entries) as Headers;
}

/** Passes bytes on, and fails after `onExcess` once there are more than `maxBytes`. */
function limitBytes(maxBytes: number, onExcess: () => void): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length;
      if (bytes <= maxBytes) done(null, chunk);
      else {
        onExcess();
        done(new Error("The body is too large."));
      }
    },
  });
}

/** Returns the path of a request without its query; null if the URL is malformed. */
function pathOf({ url = "/" }: IncomingMessage): string | null {
  const parsed = url.startsWith("/") ? URL.parse(`http://front${url}`) : null;
  if (!parsed) return null;
  try {
    return decodeURIComponent(parsed.pathname);
  } catch {
    return parsed.pathname;
  }
}

function toLoggedPath(path: string | null): string {
  if (path === null) return "(malformed)";
  return path.startsWith("/media/") ? "/media/…" : encodeURI(path);
}
