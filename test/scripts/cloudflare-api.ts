import { once } from "node:events";
import { createServer } from "node:http";
import { DatabaseSync } from "node:sqlite";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach } from "vitest";

/** A refusal of the API, with its HTTP status and Cloudflare's error code. */
class Refusal extends Error {
  readonly status: number;
  readonly code: number;

  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

interface Worker {
  secrets: Map<string, string>;
  /** Versions that served requests, the latest first. */
  versions: string[];
  /** Metadata of the last upload. */
  metadata: { main_module?: string; bindings?: { type: string; name: string }[] };
}

interface VectorIndex {
  name: string;
  config: { dimensions: number; metric: string };
  vectorCount: number;
  metadataIndexes: { propertyName: string; indexType: string }[];
}

/** Content of an account. */
function emptyAccount() {
  return {
    databases: new Map<string, { uuid: string; name: string; location?: string }>(),
    sqlite: new Map<string, DatabaseSync>(),
    buckets: new Map<string, { name: string; location?: string; rules: { id: string }[] }>(),
    vectorIndexes: new Map<string, VectorIndex>(),
    queues: new Map<string, { queue_id: string; queue_name: string; consumers: object[] }>(),
    workers: new Map<string, Worker>(),
  };
}

/** State of the API that a test reads and changes. */
export interface CloudflareServer {
  url: string;
  account: ReturnType<typeof emptyAccount>;
  /** Method and path below the account of each request but GET, such as `POST queues`. */
  writes: string[];
  /** Decides if the write of this number, from 1, fails: before it is done, or after. */
  fail: (write: string, number: number) => "refuse" | "lose" | null;
  /** Paths that the token may not use. */
  forbidden: RegExp | null;
}

export const ACCOUNT_ID = "0123456789abcdef0123456789abcdef";
export const TOKEN = "test-token";

type Body = Record<string, unknown>;
interface Call {
  account: CloudflareServer["account"];
  /** Groups of the route's pattern. */
  params: string[];
  query: URLSearchParams;
  body: Body;
}
type Handler = (call: Call) => unknown;

/** A page of a list; the API's own pages are longer. */
class Page {
  readonly items: unknown[];
  constructor(items: Iterable<unknown>) {
    this.items = [...items];
  }
}
const PER_PAGE = 2;

const ROUTES: readonly (readonly [route: string, handler: Handler])[] = [
  ["GET d1/database", ({ account }) => new Page(account.databases.values())],
  ["POST d1/database", createDatabase],
  ["GET d1/database/(.+)", ({ account, params }) => findDatabase(account, params[0])],
  ["POST d1/database/(.+)/query", queryDatabase],
  ["GET r2/buckets/([^/]+)", ({ account, params }) => requireBucket(account, params[0])],
  ["POST r2/buckets", createBucket],
  [
    "GET r2/buckets/(.+)/lifecycle",
    ({ account, params }) => ({ rules: requireBucket(account, params[0]).rules }),
  ],
  ["PUT r2/buckets/(.+)/lifecycle", putLifecycle],
  ["GET vectorize/v2/indexes", ({ account }) => [...account.vectorIndexes.values()]],
  ["POST vectorize/v2/indexes", createVectorIndex],
  ["GET vectorize/v2/indexes/(.+)/info", ({ account, params }) => requireIndex(account, params[0])],
  [
    "GET vectorize/v2/indexes/(.+)/metadata_index/list",
    ({ account, params }) => requireIndex(account, params[0]),
  ],
  ["POST vectorize/v2/indexes/(.+)/metadata_index/create", createMetadataIndex],
  ["GET queues", listQueues],
  ["POST queues", createQueue],
  ["GET workers/scripts/([^/]+)/secrets", listSecrets],
  ["PUT workers/scripts/([^/]+)/secrets", putSecret],
  ["PUT workers/scripts/([^/]+)", uploadWorker],
  ["GET workers/scripts/([^/]+)/deployments", listDeployments],
];

/** Starts Cloudflare's API on loopback, with one account in memory; it is empty in each test. */
export function setUpCloudflare(): CloudflareServer {
  const state: CloudflareServer = {
    url: "",
    account: emptyAccount(),
    writes: [],
    fail: () => null,
    forbidden: null,
  };
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "", "http://cloudflare.test");
    const respond = (status: number, body: object) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ success: status < 400, errors: [], messages: [], ...body }));
    };
    try {
      const body = await readBody(request, request.headers["content-type"] ?? "");
      const isAuthorized = request.headers.authorization === `Bearer ${TOKEN}`;
      const result = handle(state, request.method ?? "", url, body, isAuthorized);
      respond(200, result instanceof Page ? paginate(result, url) : { result });
    } catch (error) {
      const { status, code } = error instanceof Refusal ? error : { status: 500, code: 10013 };
      respond(status, { result: null, errors: [{ code, message: String(error) }] });
    }
  });
  beforeAll(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    state.url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/client/v4`;
  });
  beforeEach(() => {
    Object.assign(state, { account: emptyAccount(), writes: [], forbidden: null });
    state.fail = () => null;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return state;
}

async function readBody(request: AsyncIterable<Buffer>, type: string): Promise<Body> {
  if (type.startsWith("multipart/form-data")) {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const form = await new Response(Buffer.concat(chunks), {
      headers: { "content-type": type },
    }).formData();
    return JSON.parse(String(form.get("metadata") ?? "{}")) as Body;
  }
  return type === "application/json" ? ((await json(request as never)) as Body) : {};
}

function handle(
  state: CloudflareServer,
  method: string,
  url: URL,
  body: Body,
  isAuthorized: boolean,
): unknown {
  if (url.pathname.endsWith("/user/tokens/verify")) {
    if (isAuthorized) return { status: "active" };
    throw new Refusal(401, 1000, "Invalid API Token");
  }
  const [, accountId, path = ""] = /\/accounts\/([^/]+)\/(.*)$/.exec(url.pathname) ?? [];
  if (!isAuthorized) throw new Refusal(403, 9109, "Invalid access token");
  if (accountId !== ACCOUNT_ID) {
    throw new Refusal(404, 7003, `Could not route to ${url.pathname}`);
  }
  if (state.forbidden?.test(path)) throw new Refusal(403, 10000, "Authentication error");
  const failure =
    method === "GET" ? null : state.fail(`${method} ${path}`, state.writes.length + 1);
  if (method !== "GET") state.writes.push(`${method} ${path}`);
  if (failure === "refuse") throw new Refusal(400, 10001, "The test refuses this call");
  for (const [route, run] of ROUTES) {
    const match = new RegExp(`^${route}$`).exec(`${method} ${path}`);
    if (!match) continue;
    const { account } = state;
    const call = { account, params: match.slice(1), query: url.searchParams, body };
    if (failure === null) return run(call);
    try {
      run(call);
    } finally {
      // oxlint-disable-next-line no-unsafe-finally
      throw new Refusal(500, 10013, "The test loses this response");
    }
  }
  console.log(method, path, url.search, JSON.stringify(body).slice(0,300));
  throw new Refusal(404, 7000, `No route for ${method} ${path}`);
}

function paginate({ items }: Page, url: URL): object {
  const page = Number(url.searchParams.get("page") ?? 1);
  return {
    result: items.slice((page - 1) * PER_PAGE, page * PER_PAGE),
    result_info: { page, per_page: PER_PAGE, total_count: items.length },
  };
}

function createDatabase({ account, body }: Call): object {
  const name = String(body["name"]);
  if (account.databases.has(name)) throw new Refusal(400, 7502, "Database already exists");
  const uuid = crypto.randomUUID();
  const database = { uuid, name, location: body["primary_location_hint"] as string };
  account.databases.set(name, database);
  account.sqlite.set(uuid, new DatabaseSync(":memory:"));
  return database;
}

function findDatabase(account: Call["account"], id: string | undefined): object {
  const found = [...account.databases.values()].find(({ uuid }) => uuid === id);
  if (found) return found;
  throw new Refusal(404, 7404, "The database can't be found");
}

function queryDatabase({ account, params, body }: Call): object[] {
  const sqlite = account.sqlite.get(params[0] ?? "");
  if (!sqlite) throw new Refusal(404, 7404, "The database can't be found");
  const sql = String(body["sql"]);
  const isQuery = /^\s*(SELECT|PRAGMA)/i.test(sql);
  const results = isQuery ? sqlite.prepare(sql).all() : (sqlite.exec(sql), []);
  return [{ results, success: true, meta: { duration: 1 } }];
}

function requireBucket(account: Call["account"], name = "") {
  const bucket = account.buckets.get(name);
  if (bucket) return bucket;
  throw new Refusal(404, 10006, "The specified bucket does not exist.");
}

function createBucket({ account, body }: Call): object {
  const name = String(body["name"]);
  if (account.buckets.has(name)) throw new Refusal(409, 10004, "The bucket already exists.");
  const rules = [{ id: "Default Multipart Abort Rule" }];
  account.buckets.set(name, { name, location: body["locationHint"] as string, rules });
  return {};
}

function putLifecycle({ account, params, body }: Call): object {
  requireBucket(account, params[0]).rules = body["rules"] as { id: string }[];
  return {};
}

function requireIndex(account: Call["account"], name = ""): VectorIndex {
  const index = account.vectorIndexes.get(name);
  if (index) return index;
  throw new Refusal(404, 3000, "vectorize.index_not_found");
}

function createVectorIndex({ account, body }: Call): object {
  const { name, config } = body as unknown as VectorIndex;
  if (account.vectorIndexes.has(name))
    throw new Refusal(409, 3002, "vectorize.index.duplicate_name");
  const index = { name, config, vectorCount: 0, metadataIndexes: [] };
  account.vectorIndexes.set(name, index);
  return index;
}

function createMetadataIndex({ account, params, body }: Call): object {
  const { metadataIndexes } = requireIndex(account, params[0]);
  const added = body as unknown as VectorIndex["metadataIndexes"][number];
  if (metadataIndexes.some(({ propertyName }) => propertyName === added.propertyName)) {
    throw new Refusal(409, 3003, "vectorize.metadata_index.duplicate");
  }
  metadataIndexes.push(added);
  return { mutationId: crypto.randomUUID() };
}

function listQueues({ account, query }: Call): Page | object[] {
  const names = query.getAll("name");
  const all = [...account.queues.values()];
  return names.length === 0
    ? new Page(all)
    : all.filter(({ queue_name: name }) => names.includes(name));
}

function createQueue({ account, body }: Call): object {
  const name = String(body["queue_name"]);
  if (account.queues.has(name)) throw new Refusal(409, 11009, "Queue name already in use");
  const queue = { queue_id: crypto.randomUUID(), queue_name: name, consumers: [] };
  account.queues.set(name, queue);
  return queue;
}

function requireWorker(account: Call["account"], name = ""): Worker {
  const worker = account.workers.get(name);
  if (worker) return worker;
  throw new Refusal(404, 10007, "This Worker does not exist on your account.");
}

function listSecrets({ account, params }: Call): object[] {
  const { secrets } = requireWorker(account, params[0]);
  return [...secrets.keys()].map((name) => ({ name, type: "secret_text" }));
}

function putSecret({ account, params, body }: Call): object {
  const { name, text } = body as { name: string; text: string };
  requireWorker(account, params[0]).secrets.set(name, text);
  return { name, type: "secret_text" };
}

/** Replaces the code of a Worker; its secrets stay. */
function uploadWorker({ account, params, body }: Call): object {
  const name = params[0] ?? "";
  const worker = account.workers.get(name) ?? { secrets: new Map(), versions: [], metadata: {} };
  const version = crypto.randomUUID();
  account.workers.set(name, {
    ...worker,
    versions: [version, ...worker.versions],
    metadata: body,
  });
  return { id: name, deployment_id: version, startup_time_ms: 1, version_id: version };
}

function listDeployments({ account, params }: Call): object {
  const { versions } = requireWorker(account, params[0]);
  return {
    deployments: versions.map((id) => ({ versions: [{ version_id: id, percentage: 100 }] })),
  };
}
