import * as fc from "fast-check";
import {
  findSchemaViolation,
  matchesOperation,
  type OpenApi,
  listOperations,
  type Operation,
} from "../../tools/openapi.ts";
import { type PlannedRequest, arbitraryRequest } from "./requests.ts";

/** Target of a run: the API document, a function that sends a request, and placeholder values. */
export interface FuzzTarget {
  document: OpenApi;
  send: (plan: PlannedRequest, signal: AbortSignal) => Promise<Response>;
  /** Values of the `<name>` placeholders of requests. */
  ids: Record<string, string>;
  /** Origin of the service, used in `video_url` and the like. */
  origin: string;
}

export interface ContractViolation {
  plan: PlannedRequest;
  /** Which rule the response broke. */
  reason: string;
}

export interface OperationTally {
  operation: Operation;
  requests: number;
  /** Number of responses by status. */
  statuses: Map<number, number>;
  slowestMs: number;
}

const TIMEOUT_MS = 30_000;
/** Paths that may answer 501 to 504: they need a setting, or a platform that isn't there. */
const UPSTREAM_PATH = /\/(videonet|photonet)\//;

/**
 * Sends `count` requests, equally many to each operation, generated from the document and `seed`.
 * The same seed gives the same requests. Returns counts for each operation, and each response that
 * breaks the contract.
 */
export async function fuzz(
  target: FuzzTarget,
  count: number,
  seed: number,
  concurrency = 1,
): Promise<{ tallies: OperationTally[]; violations: ContractViolation[] }> {
  const operations = listOperations(target.document);
  const each = Math.ceil(count / operations.length);
  const tallies = operations.map((operation) => newTally(operation));
  const violations: ContractViolation[] = [];
  const requests = tallies.flatMap((tally, i) =>
    fc
      .sample(arbitraryRequest(tally.operation, target.origin), { numRuns: each, seed: seed + i })
      .map((plan) => ({ tally, plan: fillPlaceholders(plan, target.ids) })),
  );
  const queue = requests.values();
  const worker = async () => {
    for (const { tally, plan } of queue) {
      const reason = await sendAndJudge(target, operations, tally, plan);
      if (reason !== null) violations.push({ plan, reason });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return { tallies, violations };
}

function newTally(operation: Operation): OperationTally {
  return { operation, requests: 0, statuses: new Map(), slowestMs: 0 };
}

function fillPlaceholders(plan: PlannedRequest, ids: Record<string, string>): PlannedRequest {
  const fill = (text: string) =>
    text.replaceAll(/<(\w+)>/g, (whole, name: string) => ids[name] ?? whole);
  const body = typeof plan.body === "string" ? fill(plan.body) : plan.body;
  return { ...plan, path: fill(plan.path.replaceAll("%3C", "<").replaceAll("%3E", ">")), body };
}

async function sendAndJudge(
  target: FuzzTarget,
  operations: Operation[],
  tally: OperationTally,
  plan: PlannedRequest,
): Promise<string | null> {
  const start = performance.now();
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await Promise.race([target.send(plan, timeout), rejectOnAbort(timeout)]);
    const body = await Promise.race([readBody(response), rejectOnAbort(timeout)]);
    tally.requests += 1;
    tally.statuses.set(response.status, (tally.statuses.get(response.status) ?? 0) + 1);
    return findViolation(target.document, operations, plan, response, body);
  } catch (error) {
    return `no response: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    tally.slowestMs = Math.max(tally.slowestMs, Math.round(performance.now() - start));
  }
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(new Error(`none in ${TIMEOUT_MS} ms`)));
  });
}

/**
 * Reads the whole body. Of an event stream, which doesn't end, reads the first chunk if it comes
 * within 50 ms.
 */
async function readBody(response: Response): Promise<string> {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  if (!isStream || !response.body) return response.text(); // a HEAD request has no body
  const reader = response.body.getReader();
  const delay = new Promise<null>((done) => setTimeout(() => done(null), 50));
  await Promise.race([reader.read(), delay]);
  await reader.cancel();
  return "";
}

function findViolation(
  { components }: OpenApi,
  operations: Operation[],
  { method, path }: PlannedRequest,
  response: Response,
  body: string,
): string | null {
  const { status, headers } = response;
  if (!headers.get("x-request-id")) return `${status} without X-Request-Id`;
  const isExcused = status > 500 && status < 505 && UPSTREAM_PATH.test(path);
  if (status >= 500 && !isExcused) return `${status} ${body.slice(0, 300)}`;
  if (status === 405 && !headers.get("allow")) return "405 without Allow";
  if (status === 429 && !headers.get("retry-after")) return "429 without Retry-After";
  if (status === 401) return "401 with a good key";
  const type = headers.get("content-type") ?? "";
  if (!type.startsWith("application/json") || method === "HEAD") return null;
  const { pathname } = new URL(path, "http://a.example");
  const operation = operations.find(
    (one) => one.method === method && matchesOperation(one, pathname),
  );
  const violation =
    operation && findSchemaViolation(operation, components, status, JSON.parse(body));
  return violation ? `${status} breaks the contract: ${violation.slice(0, 500)}` : null;
}
