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

/** What a test knows of the server of models, and may change. */
export interface Scene {
  /** The folder that models are pulled into. */
  models: string;
  /** Where the server is, with a slash at the end. */
  origin: string;
  /** Of each request: its path and the range it wants. */
  asked: string[];
  handle: Handler;
  registry: Record<"test-model" | "other-model", ReturnType<typeof createModel>>;
}

/** A scene that each test finds anew, with a server on loopback. */
export function setScene(): Scene {
  const root = mkdtempSync(join(tmpdir(), "sightline-pull-"));
  const scene: Scene = {
    models: root,
    origin: "",
    asked: [],
    handle: serve,
    registry: { "test-model": createModel(""), "other-model": createModel("") },
  };
  const server = createServer((request, response) => {
    scene.asked.push(`${request.url} ${request.headers.range ?? ""}`.trim());
    scene.handle(request, response);
  });
  beforeAll(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    scene.origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/`;
  });
  beforeEach(() => {
    scene.models = mkdtempSync(join(root, "models-"));
    scene.asked = [];
    scene.handle = serve;
    const model = () => createModel(scene.origin);
    scene.registry = { "test-model": model(), "other-model": model() };
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
    rmSync(root, { recursive: true });
  });
  return scene;
}

function createModel(from: string) {
  const files = [describeFile("big.bin"), describeFile("deep/small.json")];
  return { ability: "pictures", about: "A test", licence: "MIT", from, files };
}

/** A file as a registry tells of it. */
export function describeFile(path: string, content = FILES[path] ?? SMALL) {
  const sha256 = createHash("sha256").update(content).digest("hex");
  return { path, bytes: content.length, sha256 };
}

/** The whole file, or its rest after the range's start. */
export function serve(request: IncomingMessage, response: ServerResponse): void {
  const file = FILES[(request.url ?? "").slice(1)];
  const start = startOf(request);
  if (!file) response.writeHead(404).end();
  else if (start === 0) response.end(file);
  else {
    const range = `bytes ${start}-${file.length - 1}/${file.length}`;
    response.writeHead(206, { "content-range": range }).end(file.subarray(start));
  }
}

/** Sends `bytes` of what is wanted of the big file, then `then` happens to the connection. */
export function sendSome(
  request: IncomingMessage,
  response: ServerResponse,
  bytes: number,
  then: () => void,
): void {
  const start = startOf(request);
  const range = { "content-range": `bytes ${start}-${BIG.length - 1}/${BIG.length}` };
  const length = { "content-length": BIG.length - start };
  response.writeHead(start > 0 ? 206 : 200, start > 0 ? { ...length, ...range } : length);
  response.write(BIG.subarray(start, start + bytes), then);
}

function startOf(request: IncomingMessage): number {
  return Number(/\d+/.exec(request.headers.range ?? "0"));
}

/** The command as a process of its own. */
export function startCommand({ models, registry }: Scene, ...args: string[]) {
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

/** A file with its folders. */
export function place(path: string, content: Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
