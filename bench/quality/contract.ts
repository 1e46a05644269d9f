import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { addFile } from "../../tools/ingest-files.ts";
import type { OpenApi } from "../../tools/openapi.ts";
import { buildSamplePack } from "../../tools/sample/pack.ts";
import { type Service, withService } from "../../tools/service.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";
import type { Suite } from "../../tools/suite.ts";
import { fuzz, type ContractViolation, type OperationTally } from "../contract/fuzz.ts";
import { findUnreadable, seedAccount } from "../contract/seed-account.ts";

const CONCURRENCY = 4;
const MAX_LOGGED = 20;

function createRequester({ url, key }: Service, signal: AbortSignal) {
  return (method: string, path: string, json?: object, headers: Record<string, string> = {}) =>
    fetch(new URL(path, url), {
      method,
      signal,
      headers: {
        "x-api-key": key,
        ...(json && { "content-type": "application/json" }),
        ...headers,
      },
      ...(json && { body: JSON.stringify(json) }),
    });
}

/** Adds a file of the sample pack to the index at a path, and returns its id when it is ready. */
async function addSample(
  { sightline }: Service,
  indexPath: string,
  kind: "image" | "video",
): Promise<string> {
  const { files } = await buildSamplePack();
  const { path } = files.find((file) => file.kind === kind)!;
  const index = sightline.index(indexPath.split("/").at(-1)!);
  const { asset_id } = await addFile(index, { path, kind });
  await index.waitUntilReady(asset_id);
  return asset_id;
}

export const suite: Suite = {
  summary: "generated requests to every operation: does a response break the contract?",
  async run(options) {
    const { log, requests, seed, signal } = options;
    const text = await readFile(join(PROJECT, "openapi.json"), "utf8");
    return withService(options, async (service) => {
      const request = createRequester(service, signal);
      const ids = await seedAccount(request, (index, kind) => addSample(service, index, kind));
      log(
        `${requests} requests of seed ${seed}: --requests ${requests} --seed ${seed} repeats them`,
      );
      const { tallies, violations } = await fuzz(
        {
          document: JSON.parse(text) as OpenApi,
          ids,
          origin: service.url,
          send: ({ method, path, headers, body }, timeout) =>
            fetch(new URL(path, service.url), {
              method,
              headers: { "x-api-key": service.key, ...headers },
              ...(body !== null && { body: typeof body === "string" ? body : new Blob([body]) }),
              signal: AbortSignal.any([timeout, signal]),
              redirect: "manual",
            }),
        },
        requests,
        seed,
        CONCURRENCY,
      );
      for (const { reason, plan } of violations.slice(0, MAX_LOGGED))
        log(`${reason}\n  ${formatPlan(plan)}`);
      const unreadable = await findUnreadable(request);
      for (const path of unreadable) log(`not readable after the run: ${path}`);
      return {
        table: tallies.map(toRow),
        json: {
          seed,
          requests: tallies.reduce((sum, tally) => sum + tally.requests, 0),
          operations: tallies.length,
          violations: violations.length,
          unreadable: unreadable.length,
          slowest_ms: Math.max(...tallies.map(({ slowestMs }) => slowestMs)),
        },
      };
    });
  },
};

function toRow({ operation, requests, statuses, slowestMs }: OperationTally) {
  const counts = [...statuses].toSorted(([a], [b]) => a - b);
  return {
    operation: `${operation.method} ${operation.path}`,
    requests,
    statuses: counts.map(([status, count]) => `${status}: ${count}`).join(", "),
    "slowest, ms": slowestMs,
  };
}

function formatPlan({ body, ...plan }: ContractViolation["plan"]): string {
  const sent = typeof body === "string" ? body : body && Buffer.from(body).toString("latin1");
  return JSON.stringify({ ...plan, body: sent?.slice(0, 2000) });
}
