import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createCapabilities } from "./capabilities.ts";
import { EngineError, toEngineError } from "./errors.ts";
import { rememberReplies } from "./remembered-replies.ts";
import type { Reply } from "./route.ts";
import { createRoutes } from "./routes.ts";
import { createWorkFolder } from "./work-folder.ts";

/** The platform's limit of 100 MB plus a margin for tests of that limit. */
const MAX_MEDIA_BYTES = 110_000_000;

const { ENGINE_HOST = "127.0.0.1", ENGINE_PORT, ENGINE_TOKEN, ENGINE_MAX_BYTES } = process.env;
const { ENGINE_REPLIES, MODELS_DIR = "", LOCAL_LLM_URL = "" } = process.env;
if (!ENGINE_TOKEN) throw new Error("Set ENGINE_TOKEN: callers must send it as their bearer token.");
const port = /^\d+$/.test(ENGINE_PORT ?? "") ? Number(ENGINE_PORT) : Number.NaN;
if (!(port < 65_536)) throw new Error("Set ENGINE_PORT: the port on ENGINE_HOST, or 0 for any.");

const folder = createWorkFolder();
process.on("exit", () => folder.remove());
process.on("uncaughtException", (error) => {
  console.error(error);
  process.exit(1);
});
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => process.exit(0));

const capabilities = createCapabilities(folder);
const maxBytes = Number(ENGINE_MAX_BYTES) || MAX_MEDIA_BYTES;
const created = createRoutes(capabilities, { folder, maxBytes });
const routes = ENGINE_REPLIES
  ? rememberReplies(created, ENGINE_REPLIES, `${MODELS_DIR} ${LOCAL_LLM_URL}`)
  : created;
const authorization = digest(`Bearer ${ENGINE_TOKEN}`);

async function answer(request: IncomingMessage, signal: AbortSignal): Promise<Reply> {
  const url = URL.parse(request.url ?? "/", "http://engine");
  if (!url) throw new EngineError("bad_request", "The request's URL is malformed.");
  const name = `${request.method} ${url.pathname}`;
  if (name === "GET /health" && isOwnHost(request)) {
    const entries = Object.entries(capabilities).map(([key, capability]) => [
      key,
      capability.status(),
    ]);
    return { json: { ok: true, capabilities: Object.fromEntries(entries) } };
  }
  if (!timingSafeEqual(digest(request.headers.authorization ?? ""), authorization)) {
    throw new EngineError("unauthorized", "Send the engine's token as a bearer token.");
  }
  const route = Object.hasOwn(routes, name) ? routes[name] : undefined;
  if (!route) throw new EngineError("not_found", `There is no ${name}.`);
  return route({ request, query: url.searchParams, signal });
}

/** Host names of this server. Another one is that of a web page whose name was pointed here. */
const OWN_HOSTS = new Set(["127.0.0.1", "localhost", "[::1]", ENGINE_HOST]);

function isOwnHost({ headers }: IncomingMessage): boolean {
  return OWN_HOSTS.has(URL.parse(`http://${headers.host}`)?.hostname ?? "");
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
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

/** Longer than the keep-alive of callers, so that no connection closes during a request. */
const KEEP_ALIVE_MS = 120_000;
const server = createServer((request, response) => void respond(request, response));
server.keepAliveTimeout = KEEP_ALIVE_MS;
server.listen(port, ENGINE_HOST, () => {
  const address = server.address();
  console.log(
    `engine on http://${ENGINE_HOST}:${typeof address === "object" ? address?.port : port}`,
  );
});
