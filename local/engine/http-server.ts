import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Capability } from "./capability.ts";
import { EngineError, toEngineError } from "./errors.ts";
import type { Reply, Routes } from "./route.ts";

/** What a server of routes listens on, and who may call it. */
export interface HttpServerOptions {
  /** Printed with the origin once it listens. */
  name: string;
  host: string;
  /** A text from the environment; "0" takes any port. */
  port: string | undefined;
  /** Callers must send it as their bearer token. Null admits whoever reaches the port. */
  token: string | null;
}

/** Longer than the keep-alive of callers, so that no connection closes during a request. */
const KEEP_ALIVE_MS = 120_000;

/** Serves routes, and the status of their capabilities at `/health`, until the process ends. */
export function serveRoutes(
  routes: Routes,
  capabilities: Readonly<Record<string, Pick<Capability<unknown>, "status">>>,
  { name, host, port: portText, token }: HttpServerOptions,
): void {
  const port = /^\d+$/.test(portText ?? "") ? Number(portText) : Number.NaN;
  if (!(port < 65_536)) throw new Error("Set ENGINE_PORT: the port on ENGINE_HOST, or 0 for any.");
  const authorization = token === null ? null : digest(`Bearer ${token}`);
  // Another host name is that of a web page whose name was pointed here.
  const ownHosts = new Set(["127.0.0.1", "localhost", "[::1]", host]);

  async function answer(request: IncomingMessage, signal: AbortSignal): Promise<Reply> {
    const url = URL.parse(request.url ?? "/", "http://engine");
    if (!url) throw new EngineError("bad_request", "The request's URL is malformed.");
    const route = `${request.method} ${url.pathname}`;
    const requestHost = URL.parse(`http://${request.headers.host}`)?.hostname ?? "";
    if (route === "GET /health" && ownHosts.has(requestHost)) {
      const entries = Object.entries(capabilities).map(([key, capability]) => [
        key,
        capability.status(),
      ]);
      return { json: { ok: true, capabilities: Object.fromEntries(entries) } };
    }
    const sent = digest(request.headers.authorization ?? "");
    if (authorization !== null && !timingSafeEqual(sent, authorization)) {
      throw new EngineError("unauthorized", "Send the engine's token as a bearer token.");
    }
    const handler = Object.hasOwn(routes, route) ? routes[route] : undefined;
    if (!handler) throw new EngineError("not_found", `There is no ${route}.`);
    const account = String(request.headers["x-account"] ?? "");
    return handler({ request, query: url.searchParams, signal, account });
  }

  const server = createServer((request, response) => void respond(request, response, answer));
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.listen(port, host, () => {
    const address = server.address();
    const listening = typeof address === "object" ? address?.port : port;
    console.log(`${name} on http://${host}:${listening}`);
  });
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (request: IncomingMessage, signal: AbortSignal) => Promise<Reply>,
): Promise<void> {
  const disconnect = new AbortController();
  response.on("close", () => disconnect.abort());
  try {
    await send(response, 200, await answer(request, disconnect.signal));
  } catch (cause) {
    if (disconnect.signal.aborted) return;
    if (response.headersSent) {
      console.error(cause);
      response.destroy(); // the reader notices the missing end
      return;
    }
    const { code, message, status } = toEngineError(cause);
    // Drains the rest of a rejected body; otherwise the caller would never read the response.
    request.resume();
    await send(response, status, { json: { error: { code, message } } });
  }
}

async function send(response: ServerResponse, status: number, reply: Reply): Promise<void> {
  if ("stream" in reply) {
    response.setHeader("content-type", reply.contentType);
    await reply.stream((text) => void response.write(text));
    response.end();
  } else if ("json" in reply) {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(reply.json));
  } else {
    const { bytes, contentType, headers } = reply;
    const length = String(bytes.length);
    response.writeHead(status, {
      ...headers,
      "content-type": contentType,
      "content-length": length,
    });
    response.end(bytes);
  }
}

/** Hashes a token: digests have equal lengths, so a comparison doesn't leak the token's length. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
