import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { type LoopbackServer, startLoopback } from "../stack/loopback.ts";
import { type Call, CloudflareAccount, Page, RESOURCE_ROUTES } from "./account.ts";
import { D1_ROUTES } from "./d1.ts";
import { Refusal } from "./refusal.ts";
import { WORKER_ROUTES } from "./workers.ts";

export const ACCOUNT_ID = "0123456789abcdef0123456789abcdef";
export const TOKEN = "test-token";

/** State of the API that a test reads and changes. */
export interface CloudflareState {
  account: CloudflareAccount;
  /** Method and path below the account of each request but GET, such as `POST queues`. */
  writes: string[];
  /** Decides whether a write fails, before it is done or after. Numbers start with 1. */
  fail: (write: string, number: number) => "refuse" | "lose" | null;
  /** Paths that the token may not use. */
  forbidden: RegExp | null;
}

/** Items of a page; few, so that a list has several. */
const PER_PAGE = 2;

/** Returns the state of an API with an empty account. */
export function emptyState(account = new CloudflareAccount()): CloudflareState {
  return { account, writes: [], fail: () => null, forbidden: null };
}

/** Starts Cloudflare's API on loopback: a fake account in memory. */
export function startCloudflare(state: CloudflareState): Promise<LoopbackServer> {
  return startLoopback((request, response) => {
    void respond(state, request, response);
  });
}

/** Returns the environment in which Wrangler and our scripts call the API at `origin`. */
export function cloudflareEnv(origin: string): Record<string, string> {
  return {
    CLOUDFLARE_API_BASE_URL: `${origin}/client/v4`,
    CLOUDFLARE_API_TOKEN: TOKEN,
    CLOUDFLARE_ACCOUNT_ID: ACCOUNT_ID,
  };
}

async function respond(
  state: CloudflareState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const upload = /^\/d1-uploads\/([^/]+)\//.exec(request.url ?? "");
  if (upload && request.method === "PUT") {
    const etag = state.account.findDatabase(upload[1]!)?.upload(await buffer(request));
    response.writeHead(etag === undefined ? 404 : 200, { etag: `"${etag}"` }).end();
    return;
  }
  const end = (status: number, body: object) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ success: status < 400, errors: [], messages: [], ...body }));
  };
  try {
    end(200, await handleRequest(state, request));
  } catch (error) {
    const { status, code } = error instanceof Refusal ? error : { status: 500, code: 10013 };
    const message = error instanceof Error ? error.message : String(error);
    const details = error instanceof Refusal && error.details;
    const meta = details && { meta: { details } };
    end(status, { result: null, errors: [{ code, message, ...meta }] });
  }
}

async function handleRequest(state: CloudflareState, request: IncomingMessage): Promise<object> {
  const { method = "", headers } = request;
  const { pathname, searchParams: query } = new URL(request.url ?? "", "http://cloudflare.test");
  const body = await readBody(request);
  const isAuthorized = headers.authorization === `Bearer ${TOKEN}`;
  if (pathname.endsWith("/tokens/verify")) {
    if (isAuthorized) return { result: { status: "active" } };
    throw new Refusal(401, 1000, "Invalid API Token");
  }
  if (!isAuthorized) throw new Refusal(403, 9109, "Invalid access token");
  const [, accountId, path = ""] = /\/accounts\/([^/]+)\/(.*)$/.exec(pathname) ?? [];
  if (accountId !== ACCOUNT_ID) throw new Refusal(404, 7003, `Could not route to ${pathname}`);
  if (state.forbidden?.test(path)) throw new Refusal(403, 10000, "Authentication error");
  const { account } = state;
  const origin = `http://${headers.host}`;
  const run = () => runRoute(`${method} ${path}`, { account, origin, params: [], query, body });
  const result = await (method === "GET" ? run() : runWrite(state, `${method} ${path}`, run));
  return result instanceof Page ? paginate(result, query) : { result };
}

async function runWrite(
  state: CloudflareState,
  write: string,
  run: () => unknown,
): Promise<unknown> {
  state.writes.push(write);
  const failure = state.fail(write, state.writes.length);
  if (failure === null) return run();
  if (failure === "lose") {
    try {
      await run();
    } catch {
      // The reply is lost, whatever it was.
    }
  }
  throw new Refusal(failure === "lose" ? 500 : 400, 10013, "The test makes this call fail");
}

function runRoute(request: string, call: Call): unknown {
  for (const [route, handler] of [...RESOURCE_ROUTES, ...D1_ROUTES, ...WORKER_ROUTES]) {
    const match = new RegExp(`^${route}$`).exec(request);
    if (match) return handler({ ...call, params: match.slice(1) });
  }
  throw new Refusal(404, 7000, `No route for ${request}`);
}

function paginate({ items }: Page, query: URLSearchParams): object {
  const page = Number(query.get("page") ?? 1);
  return {
    result: items.slice((page - 1) * PER_PAGE, page * PER_PAGE),
    result_info: { page, per_page: PER_PAGE, total_count: items.length },
  };
}

/**
 * Reads JSON, or the metadata of an uploaded Worker with the hashes of its modules and what its
 * main module exports.
 */
async function readBody(request: IncomingMessage): Promise<Call["body"]> {
  const type = request.headers["content-type"] ?? "";
  const bytes = await buffer(request);
  if (bytes.length === 0) return {};
  if (!type.startsWith("multipart/form-data")) return JSON.parse(String(bytes)) as Call["body"];
  const form = await new Response(bytes, { headers: { "content-type": type } }).formData();
  const metadata = form.get("metadata");
  if (typeof metadata !== "string") return {};
  const body = JSON.parse(metadata) as Call["body"];
  const modules: Record<string, string> = {};
  let exportedNames: string[] = [];
  for (const [name, part] of form) {
    if (typeof part === "string") continue;
    modules[name] = sha256(new Uint8Array(await part.arrayBuffer()));
    if (name === body["main_module"]) exportedNames = listExports(await part.text());
  }
  return { ...body, modules, exportedNames };
}

/** Lists the names in the last `export { … }` of a module, where bundles have theirs. */
function listExports(module: string): string[] {
  const [list = ""] = [...module.matchAll(/\bexport\s*\{([^}]*)\}/g)].at(-1)?.slice(1) ?? [];
  return list.split(",").map((name) => name.replace(/^.*\sas\s/s, "").trim());
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
