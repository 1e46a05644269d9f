import * as fc from "fast-check";
import { breach, matches, type OpenApi, listOperations, type Operation } from "./document.ts";
import { type Plan, requestsFor } from "./requests.ts";

/** How a request that was planned is sent, and ids for what its `<name>`s stand for. */
export interface Target {
  document: OpenApi;
  send: (plan: Plan, signal: AbortSignal) => Promise<Response>;
  ids: Record<string, string>;
  /** Where files could be fetched from. */
  origin: string;
}

export interface Problem {
  plan: Plan;
  /** What was wrong with the answer. */
  what: string;
}

export interface Tally {
  operation: Operation;
  requests: number;
  /** How often each status came. */
  statuses: Map<number, number>;
  slowestMs: number;
}

const PATIENCE_MS = 30_000;
/** Where a setting of the deployment, or another's service, may be missing. */
const UPSTREAM = /\/(videonet|photonet)\//;

/**
 * Sends `count` requests, as many to each operation, made of the document and of `seed`: the same seed, the same
 * requests. Tells what came, and each answer that broke the contract.
 */
export async function barrage(
  target: Target,
  count: number,
  seed: number,
  atOnce = 1,
): Promise<{ tallies: Tally[]; problems: Problem[] }> {
  const operations = listOperations(target.document);
  const each = Math.ceil(count / operations.length);
  const tallies = operations.map((operation) => newTally(operation));
  const problems: Problem[] = [];
  const shots = tallies.flatMap((tally, i) =>
    fc
      .sample(requestsFor(tally.operation, target.origin), { numRuns: each, seed: seed + i })
      .map((plan) => ({ tally, plan: inWorld(plan, target.ids) })),
  );
  const waiting = shots.values();
  const work = async () => {
    for (const { tally, plan } of waiting) {
      const what = await shoot(target, operations, tally, plan);
      if (what !== null) problems.push({ plan, what });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return { tallies, problems };
}

function newTally(operation: Operation): Tally {
  return { operation, requests: 0, statuses: new Map(), slowestMs: 0 };
}

function inWorld(plan: Plan, ids: Record<string, string>): Plan {
  const fill = (text: string) =>
    text.replaceAll(/<(\w+)>/g, (whole, name: string) => ids[name] ?? whole);
  const body = typeof plan.body === "string" ? fill(plan.body) : plan.body;
  return { ...plan, path: fill(plan.path.replaceAll("%3C", "<").replaceAll("%3E", ">")), body };
}

async function shoot(
  target: Target,
  operations: Operation[],
  tally: Tally,
  plan: Plan,
): Promise<string | null> {
  const start = performance.now();
  const late = AbortSignal.timeout(PATIENCE_MS);
  try {
    const response = await Promise.race([target.send(plan, late), expiry(late)]);
    const body = await Promise.race([bodyOf(response), expiry(late)]);
    tally.requests += 1;
    tally.statuses.set(response.status, (tally.statuses.get(response.status) ?? 0) + 1);
    return judge(target.document, operations, plan, response, body);
  } catch (error) {
    return `no answer: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    tally.slowestMs = Math.max(tally.slowestMs, Math.round(performance.now() - start));
  }
}

function expiry(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(new Error(`none in ${PATIENCE_MS} ms`)));
  });
}

/** The whole body; of events, which don't end, the first, if it is there. */
async function bodyOf(response: Response): Promise<string> {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream"))
    return response.text();
  const reader = response.body!.getReader();
  const soon = new Promise<null>((done) => setTimeout(() => done(null), 50));
  await Promise.race([reader.read(), soon]);
  await reader.cancel();
  return "";
}

function judge(
  { components }: OpenApi,
  operations: Operation[],
  { method, path }: Plan,
  response: Response,
  body: string,
): string | null {
  const { status, headers } = response;
  if (!headers.get("x-request-id")) return `${status} without X-Request-Id`;
  const isExcused = status > 500 && status < 505 && UPSTREAM.test(path);
  if (status >= 500 && !isExcused) return `${status} ${body.slice(0, 300)}`;
  if (status === 405 && !headers.get("allow")) return "405 without Allow";
  if (status === 429 && !headers.get("retry-after")) return "429 without Retry-After";
  if (status === 401) return "401 with a good key";
  const type = headers.get("content-type") ?? "";
  if (!type.startsWith("application/json") || method === "HEAD") return null;
  const { pathname } = new URL(path, "http://a.example");
  const operation = operations.find((one) => one.method === method && matches(one, pathname));
  const problem = operation && breach(operation, components, status, JSON.parse(body));
  return problem ? `${status} breaks the contract: ${problem.slice(0, 500)}` : null;
}
