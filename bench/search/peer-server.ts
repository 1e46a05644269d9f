import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Batch, decodeBatch } from "./batch.ts";

/** What a peer answers. */
export interface PeerHit {
  segmentId: string;
  score: number;
  text: string;
}

/** A search library behind the same hop as ours. */
export interface Peer {
  add(batch: Batch): Promise<void>;
  /** Called when a round of batches is in, before the first search. */
  prepare(): Promise<void>;
  /** The best `count`, the best first. `approximate`: by an index of the vectors, where there is one. */
  search(
    query: string,
    vector: Float32Array,
    count: number,
    approximate: boolean,
  ): Promise<PeerHit[]>;
}

interface Request {
  query: string;
  top_k: number;
  approximate: boolean;
}

/** All words of a segment, as the peers index them. */
export function textOf({ caption, transcript, onScreenText }: Batch["passages"][number]): string {
  return `${caption} ${transcript} ${onScreenText}`;
}

/** Loads the peers' own packages, which are not installed with this project. */
export const requirePeer = createRequire(join(read("PEER_PACKAGES"), "package.json"));

/** A folder for what it stores. */
export function dataFolder(): string {
  return read("PEER_DATA");
}

/**
 * Serves a peer on a free port of 127.0.0.1, which it prints: POST /rows, /prepare, /search. The vector of
 * a query comes from the engine, and is kept, as ours are. `Server-Timing` has the milliseconds by itself.
 */
export function servePeer(peer: Peer): void {
  const vectors = new Map<string, Float32Array>();
  /** For either way of searching by itself, so that both are asked what is new to them. */
  async function vectorOf({ query, approximate }: Request): Promise<Float32Array> {
    const key = `${approximate} ${query}`;
    const vector = vectors.get(key) ?? (await embed(query));
    vectors.set(key, vector);
    return vector;
  }
  async function answer(path: string, body: Buffer<ArrayBuffer>) {
    if (path === "/search") {
      const asked: Request = JSON.parse(body.toString());
      const { query, top_k, approximate } = asked;
      const vector = await vectorOf(asked);
      const start = performance.now();
      const hits = await peer.search(query, vector, top_k, approximate);
      return { hits, ms: performance.now() - start };
    }
    const start = performance.now();
    if (path === "/rows") await peer.add(decodeBatch(Uint8Array.from(body).buffer));
    else await peer.prepare();
    return { hits: [], ms: performance.now() - start };
  }
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { hits, ms } = await answer(request.url ?? "", await readBody(request));
      response.setHeader("content-type", "application/json");
      response.setHeader("server-timing", `search;dur=${ms.toFixed(2)}`);
      response.end(JSON.stringify({ hits }));
    } catch (error) {
      console.error(error);
      response.writeHead(500).end(error instanceof Error ? error.message : String(error));
    }
  }
  const server = createServer((request, response) => void respond(request, response));
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (address && typeof address === "object")
      console.log(`peer on http://127.0.0.1:${address.port}`);
  });
  process.once("SIGTERM", () => process.exit());
}

async function embed(text: string): Promise<Float32Array> {
  const response = await fetch(`${read("ENGINE_URL")}/sentences`, {
    method: "POST",
    headers: { authorization: `Bearer ${read("ENGINE_TOKEN")}` },
    body: JSON.stringify({ texts: [text] }),
  });
  if (!response.ok) throw new Error(`The engine answered ${response.status}.`);
  const { vectors } = (await response.json()) as { vectors: number[][] };
  return Float32Array.from(vectors[0] ?? []);
}

async function readBody(request: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function read(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: npm run bench -- search starts the peers.`);
  return value;
}
