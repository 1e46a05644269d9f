import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createAbilities } from "./abilities.ts";
import { EngineError, toEngineError } from "./errors.ts";
import { createRoutes, type Reply } from "./routes.ts";
import { createWorkFolder } from "./work-folder.ts";

/** 100 MB, the platform's own limit, and a margin for callers that test it. */
const MAX_MEDIA_BYTES = 110_000_000;

const { ENGINE_HOST = "127.0.0.1", ENGINE_PORT, ENGINE_TOKEN, ENGINE_MAX_BYTES } = process.env;
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

const abilities = createAbilities(folder);
const maxBytes = Number(ENGINE_MAX_BYTES) || MAX_MEDIA_BYTES;
const routes = createRoutes(abilities, { folder, maxBytes });
const authorization = digest(`Bearer ${ENGINE_TOKEN}`);

async function answer(request: IncomingMessage, signal: AbortSignal): Promise<Reply> {
  const url = new URL(request.url ?? "/", "http://engine");
  const name = `${request.method} ${url.pathname}`;
  if (name === "GET /health") {
    const entries = Object.entries(abilities).map(([key, ability]) => [key, ability.status()]);
    return { json: { ok: true, abilities: Object.fromEntries(entries) } };
  }
  if (!timingSafeEqual(digest(request.headers.authorization ?? ""), authorization)) {
    throw new EngineError("unauthorized", "Send the engine's token as a bearer token.");
  }
  const route = Object.hasOwn(routes, name) ? routes[name] : undefined;
  if (!route) throw new EngineError("not_found", `There is no ${name}.`);
  return route({ request, query: url.searchParams, signal });
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  try {
    await send(response, 200, await answer(request, gone.signal));
  } catch (cause) {
    if (gone.signal.aborted) return;
    if (response.headersSent) {
      console.error(cause);
      response.destroy(); // what is missing at the end tells the reader
      return;
    }
    const { code, message, status } = toEngineError(cause);
    // What is left of a refused body is let through, or the caller would never read the answer.
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

/** Digests have one length, so comparing them tells nothing about the token's. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Longer than callers keep a connection, so that none is closed under a request. */
const KEEP_ALIVE_MS = 120_000;
const server = createServer((request, response) => void respond(request, response));
server.keepAliveTimeout = KEEP_ALIVE_MS;
server.listen(port, ENGINE_HOST, () => {
  const address = server.address();
  console.log(
    `engine on http://${ENGINE_HOST}:${typeof address === "object" ? address?.port : port}`,
  );
});
