import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { buffer, text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { PROJECT } from "../../tools/stack/local-state.ts";
import {
  type Call,
  CloudflareAccount,
  Page,
  Refusal,
  RESOURCE_ROUTES,
} from "./cloudflare-account.ts";
import { WORKER_ROUTES } from "./cloudflare-workers.ts";

export const ACCOUNT_ID = "0123456789abcdef0123456789abcdef";
export const TOKEN = "test-token";

/** State of the API that a test reads and changes. */
export interface CloudflareServer {
  url: string;
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

/** Starts Cloudflare's API on loopback. Each test begins with an empty account. */
export function setUpCloudflare(): CloudflareServer {
  const initial = () => ({
    account: new CloudflareAccount(),
    writes: [],
    fail: () => null,
    forbidden: null,
  });
  const state: CloudflareServer = { url: "", ...initial() };
  const server = createServer((request, response) => {
    void respond(state, request, response);
  });
  beforeAll(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    state.url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/client/v4`;
  });
  beforeEach(() => {
    Object.assign(state, initial());
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return state;
}

async function respond(
  state: CloudflareServer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const end = (status: number, body: object) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ success: status < 400, errors: [], messages: [], ...body }));
  };
  try {
    end(200, await handleRequest(state, request));
  } catch (error) {
    const { status, code } = error instanceof Refusal ? error : { status: 500, code: 10013 };
    const message = error instanceof Error ? error.message : String(error);
    end(status, { result: null, errors: [{ code, message }] });
  }
}

async function handleRequest(state: CloudflareServer, request: IncomingMessage): Promise<object> {
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
  const run = () => runRoute(`${method} ${path}`, { account, params: [], query, body });
  const result = method === "GET" ? run() : runWrite(state, `${method} ${path}`, run);
  return result instanceof Page ? paginate(result, query) : { result };
}

function runWrite(state: CloudflareServer, write: string, run: () => unknown): unknown {
  state.writes.push(write);
  const failure = state.fail(write, state.writes.length);
  if (failure === null) return run();
  if (failure === "lose") {
    try {
      run();
    } catch {
      // The reply is lost, whatever it was.
    }
  }
  throw new Refusal(failure === "lose" ? 500 : 400, 10013, "The test makes this call fail");
}

function runRoute(request: string, call: Call): unknown {
  for (const [route, handler] of [...RESOURCE_ROUTES, ...WORKER_ROUTES]) {
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

/** Reads JSON, or the metadata of an uploaded Worker. */
async function readBody(request: IncomingMessage): Promise<Call["body"]> {
  const type = request.headers["content-type"] ?? "";
  const bytes = await buffer(request);
  if (bytes.length === 0) return {};
  if (!type.startsWith("multipart/form-data")) return JSON.parse(String(bytes)) as Call["body"];
  const form = await new Response(bytes, { headers: { "content-type": type } }).formData();
  const metadata = form.get("metadata");
  return typeof metadata === "string" ? (JSON.parse(metadata) as Call["body"]) : {};
}

/** Runs a script in a process of its own, without a terminal, on the account of the server. */
export async function runScript(
  { url }: CloudflareServer,
  folder: string,
  [script, ...args]: [script: string, ...args: string[]],
  env: Record<string, string> = {},
) {
  const child = spawn(process.execPath, [join(PROJECT, `scripts/${script}.ts`), ...args], {
    cwd: folder,
    env: {
      ...process.env,
      CLOUDFLARE_API_BASE_URL: url,
      CLOUDFLARE_API_TOKEN: TOKEN,
      CLOUDFLARE_ACCOUNT_ID: ACCOUNT_ID,
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await ended;
  return { stdout, stderr, status: child.exitCode };
}
