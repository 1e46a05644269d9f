import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach } from "vitest";

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export const BIG = Buffer.from(Uint8Array.from({ length: 3_000_000 }, (_, at) => (at * 7) % 251));
export const SMALL = Buffer.from('{"model_type":"clip"}');
const FILES: Record<string, Buffer> = { "big.bin": BIG, "deep/small.json": SMALL };

/** State of the model server that a test reads and changes. */
export interface ModelServer {
  /** Folder that models are pulled into. */
  models: string;
  /** Origin of the server, with a trailing slash. */
  origin: string;
  /** Path and range of each request. */
  requests: string[];
  handle: Handler;
  registry: Record<"test-model" | "other-model", ReturnType<typeof createModel>>;
}

/** Starts a model server on loopback; its state is reset before each test. */
export function setUpModelServer(): ModelServer {
  const root = mkdtempSync(join(tmpdir(), "sightline-pull-"));
  const state: ModelServer = {
    models: root,
    origin: "",
    requests: [],
    handle: serve,
    registry: { "test-model": createModel(""), "other-model": createModel("") },
  };
  const server = createServer((request, response) => {
    state.requests.push(`${request.url} ${request.headers.range ?? ""}`.trim());
    state.handle(request, response);
  });
  beforeAll(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    state.origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/`;
  });
  beforeEach(() => {
    state.models = mkdtempSync(join(root, "models-"));
    state.requests = [];
    state.handle = serve;
    const model = () => createModel(state.origin);
    state.registry = { "test-model": model(), "other-model": model() };
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
    rmSync(root, { recursive: true });
  });
  return state;
}

function createModel(baseUrl: string) {
  const files = [describeFile("big.bin"), describeFile("deep/small.json")];
  return { capability: "embeddings", description: "A test", licence: "MIT", baseUrl, files };
}

/** Makes the registry entry of a file. */
export function describeFile(path: string, content = FILES[path] ?? SMALL) {
  const sha256 = createHash("sha256").update(content).digest("hex");
  return { path, bytes: content.length, sha256 };
}

/** Serves a file from the start of the range. */
export function serve(request: IncomingMessage, response: ServerResponse): void {
  const file = FILES[(request.url ?? "").slice(1)];
  const start = parseRangeStart(request);
  if (!file) response.writeHead(404).end();
  else if (start === 0) response.end(file);
  else {
    const range = `bytes ${start}-${file.length - 1}/${file.length}`;
    response.writeHead(206, { "content-range": range }).end(file.subarray(start));
  }
}

/** Sends `bytes` of the requested range of the big file, then calls `then`. */
export function sendChunk(
  request: IncomingMessage,
  response: ServerResponse,
  bytes: number,
  then: () => void,
): void {
  const start = parseRangeStart(request);
  const range = { "content-range": `bytes ${start}-${BIG.length - 1}/${BIG.length}` };
  const length = { "content-length": BIG.length - start };
  response.writeHead(start > 0 ? 206 : 200, start > 0 ? { ...length, ...range } : length);
  response.write(BIG.subarray(start, start + bytes), then);
}

function parseRangeStart(request: IncomingMessage): number {
  return Number(/\d+/.exec(request.headers.range ?? "0"));
}

/** Starts the command in a process of its own. */
export function startCommand({ models, registry }: ModelServer, ...args: string[]) {
  const list = join(models, "registry.json");
  writeFileSync(list, JSON.stringify(registry));
  const child = spawn(process.execPath, ["scripts/models.ts", ...args, "--registry", list], {
    env: { ...process.env, MODELS_DIR: models },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  const outcome = async () => {
    const [stdout, stderr, [status]] = await ended;
    return { stdout, stderr, status: Number(status) };
  };
  return { child, outcome: outcome() };
}

/** Writes a file and creates its folders. */
export function writeModelFiles(path: string, content: Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
