import { createRandom } from "../../tools/random-numbers.ts";
import { type Service, withService } from "../../tools/service.ts";
import { createKey } from "../../tools/stack/api-key.ts";
import { quantile, round, type Suite, type SuiteOptions } from "../../tools/suite.ts";
import { type Attack, ATTACKED_INDICES, makeAttacks } from "../neighbours/attacks.ts";
import { LOADING_WORKER } from "../search/load-batch.ts";
import { createSegments, loadSegments } from "../search/random-segments.ts";

/** How many times as long a search may take beside an attacker. */
const MAX_RATIO = 2;
/** Attack and quiet alternate, so that other load on the machine affects both. */
const ROUNDS = 5;
const SEGMENTS = 1000;
/** Requests of the attacker at a time, and in a round: a run ends, whatever is refused fast. */
const [CONCURRENCY, MAX_REQUESTS] = [8, 400];
/** Pause between searches of the neighbour. */
const PAUSE_MS = 20;
const DRAIN_MS = 120_000;

export const suite: Suite = {
  summary:
    "p95 of an account's searches beside one that attacks each public operation at full speed, " +
    "in five rounds of --seconds in all, and alone; fails above twice",
  run: (options) =>
    withService(options, (service) => measureAttacks(service, options), { entry: LOADING_WORKER }),
};

async function measureAttacks(service: Service, { seed, seconds, log, signal }: SuiteOptions) {
  const random = createRandom(1);
  await service.sightline.indices.create({ index_name: "own" });
  await loadSegments(service, "own", createSegments(SEGMENTS, random));
  const attacker = await createKey(service.keySecrets, { account: "attacker" });
  for (const name of ATTACKED_INDICES) await createIndex(service, attacker, name, signal);
  await loadSegments(
    { ...service, account: "attacker" },
    ATTACKED_INDICES[0]!,
    createSegments(SEGMENTS, random),
  );
  const attacks = await makeAttacks(service.folder, seed);
  const roundMs = (1000 * seconds) / ROUNDS;
  const search = searcher(service, signal);
  await searchUntil(search, after(roundMs));
  const rows = [];
  for (const [operation, next] of Object.entries(attacks)) {
    log(`Attacking ${operation}`);
    const [alone, beside]: number[][] = [[], []];
    let requests = 0;
    for (let at = 0; at < ROUNDS; at++) {
      await drain(service, attacker, signal);
      alone!.push(quantile(await searchUntil(search, after(roundMs / 2)), 0.95));
      const end = after(roundMs);
      const attacking = attack(service, attacker, next, end, signal);
      beside!.push(quantile(await searchUntil(search, end), 0.95));
      requests += await attacking;
      signal.throwIfAborted();
    }
    const [aloneMs, besideMs] = [quantile(alone!, 0.5), quantile(beside!, 0.5)];
    const ratio = round(besideMs / aloneMs);
    log(`  p95 of a search: ${round(besideMs)} ms, alone ${round(aloneMs)} ms`);
    rows.push({
      operation,
      requests,
      alone_p95_ms: round(aloneMs, 1),
      beside_p95_ms: round(besideMs, 1),
      ratio,
    });
  }
  const problems = rows.filter(({ ratio }) => ratio > MAX_RATIO).length;
  return { table: rows, json: { operations: rows, max_ratio: MAX_RATIO, seed }, problems };
}

/** Returns a function that tells whether some ms have passed. */
function after(ms: number): () => boolean {
  const end = performance.now() + ms;
  return () => performance.now() >= end;
}

/** Searches one after the other, at least once, and returns the times. */
async function searchUntil(
  search: () => Promise<number>,
  isOver: () => boolean,
): Promise<number[]> {
  const times: number[] = [];
  do {
    times.push(await search());
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  } while (!isOver());
  return times;
}

/** Returns a search of the neighbour for other words each time, which returns how long it took. */
function searcher(service: Service, signal: AbortSignal): () => Promise<number> {
  let turn = 0;
  return async () => {
    const start = performance.now();
    const body = JSON.stringify({ query: `w${turn++ % 500} w${turn}`, top_k: 10 });
    const headers = { "content-type": "application/json" };
    const path = "/index/own/search";
    const status = await send(
      service,
      service.key,
      { method: "POST", path, headers, body },
      signal,
    );
    if (status !== 200) throw new Error(`The neighbour's search returned ${status}.`);
    return performance.now() - start;
  };
}

/**
 * Attacks with several requests at a time until it is over. Returns their number once all are
 * answered: a Worker goes on with a request whose caller hangs up.
 */
async function attack(
  service: Service,
  key: string,
  next: () => Attack,
  isOver: () => boolean,
  signal: AbortSignal,
): Promise<number> {
  let requests = 0;
  const worker = async () => {
    while (!isOver() && requests < MAX_REQUESTS) {
      requests += 1;
      await send(service, key, next(), signal).catch(ignoreFailure);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return requests;
}

/** Ignores that a request of the attacker fails: only the neighbour's count. */
function ignoreFailure(): void {}

/** Deletes an attacked index whose files are still processed: their work would count as quiet. */
async function drain(service: Service, key: string, signal: AbortSignal): Promise<void> {
  const headers = { "x-api-key": key };
  const isBusy = async () => {
    const response = await fetch(`${service.url}/stats`, { headers, signal });
    const { states } = (await response.json()) as { states: Record<string, number> };
    return (states["queued"] ?? 0) + (states["processing"] ?? 0) > 0;
  };
  if (!(await isBusy())) return;
  const name = ATTACKED_INDICES[0]!;
  await send(service, key, { method: "DELETE", path: `/index/${name}` }, signal);
  const isOver = after(DRAIN_MS);
  while ((await isBusy()) || !(await createIndex(service, key, name, signal))) {
    if (isOver()) throw new Error("The attacked index isn't deleted.");
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Tells whether an index could be created: its name is free once another is deleted. */
async function createIndex(
  service: Service,
  key: string,
  index_name: string,
  signal: AbortSignal,
): Promise<boolean> {
  const body = JSON.stringify({ index_name });
  const headers = { "content-type": "application/json" };
  const create = { method: "POST", path: "/index", headers, body };
  return (await send(service, key, create, signal)) < 300;
}

async function send(
  { url }: Service,
  key: string,
  { method, path, headers = {}, body }: Attack,
  signal: AbortSignal,
): Promise<number> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...headers, "x-api-key": key },
    signal,
    ...(body !== undefined && { body }),
  });
  await response.arrayBuffer();
  return response.status;
}
