import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type SegmentBatch, decodeBatch } from "../../tools/segment-batch.ts";

/** A hit of a baseline. */
export interface BaselineHit {
  segmentId: string;
  score: number;
  text: string;
}

/** A search library served over HTTP like our service. */
export interface Baseline {
  add(batch: SegmentBatch): Promise<void>;
  /** Called when all batches of a size are added, before the first search. */
  prepare(): Promise<void>;
  /**
   * Returns the best `count` hits, the best first. `approximate`: with a vector index, if there is
   * one.
   */
  search(
    query: string,
    vector: Float32Array,
    count: number,
    approximate: boolean,
  ): Promise<BaselineHit[]>;
}

interface Request {
  query: string;
  top_k: number;
  approximate: boolean;
}

/** Joins the text fields of a segment, as the baselines index them. */
export function segmentText({
  caption,
  transcript,
  onScreenText,
}: SegmentBatch["segments"][number]): string {
  return `${caption} ${transcript} ${onScreenText}`;
}

/** Loads packages of the baselines, which this project doesn't install. */
export const requireBaselinePackage = createRequire(
  join(requireEnv("BASELINE_PACKAGES"), "package.json"),
);

/** Returns the folder for the baseline's data. */
export function dataFolder(): string {
  return requireEnv("BASELINE_DATA");
}

/**
 * Serves a baseline on a free port of 127.0.0.1, which it prints: POST /rows, /prepare, /search.
 * Query vectors come from the engine and are cached, as our service caches its own. `Server-Timing`
 * has the time of the library alone.
 */
export function serveBaseline(baseline: Baseline): void {
  const vectors = new Map<string, Float32Array>();
  /** Caches vectors separately for exact and approximate search, so that each has new queries. */
  async function queryVector({ query, approximate }: Request): Promise<Float32Array> {
    const key = `${approximate} ${query}`;
    const vector = vectors.get(key) ?? (await embed(query));
    vectors.set(key, vector);
    return vector;
  }
  async function handle(path: string, body: Buffer<ArrayBuffer>) {
    if (path === "/search") {
      const searchRequest: Request = JSON.parse(body.toString());
      const { query, top_k, approximate } = searchRequest;
      const vector = await queryVector(searchRequest);
      const start = performance.now();
      const hits = await baseline.search(query, vector, top_k, approximate);
      return { hits, ms: performance.now() - start };
    }
    const start = performance.now();
    if (path === "/rows") await baseline.add(decodeBatch(Uint8Array.from(body).buffer));
    else await baseline.prepare();
    return { hits: [], ms: performance.now() - start };
  }
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { hits, ms } = await handle(request.url ?? "", await readBody(request));
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
      console.log(`baseline on http://127.0.0.1:${address.port}`);
  });
  process.once("SIGTERM", () => process.exit());
}

async function embed(text: string): Promise<Float32Array> {
  const response = await fetch(`${requireEnv("ENGINE_URL")}/sentences`, {
    method: "POST",
    headers: { authorization: `Bearer ${requireEnv("ENGINE_TOKEN")}` },
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

function requireEnv(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: npm run bench -- search starts the baselines.`);
  return value;
}
