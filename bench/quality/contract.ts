import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { streamForm } from "../../scripts/demo/streamed-form.ts";
import { buildSamplePack } from "../../scripts/sample/pack.ts";
import { PROJECT, samplePackFolder } from "../../scripts/stack/local-state.ts";
import { barrage, type Problem, type Tally } from "../contract/barrage.ts";
import type { OpenApi } from "../contract/document.ts";
import { findUnreadable, makeWorld } from "../contract/world.ts";
import { type Service, withService } from "../service.ts";
import type { Suite } from "../suite.ts";

const AT_ONCE = 4;
const SHOWN = 20;

function askerOf({ url, key }: Service, signal: AbortSignal) {
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

async function add({ api }: Service, index: string, kind: "image" | "video"): Promise<string> {
  const { files } = await buildSamplePack(samplePackFolder());
  const { path } = files.find((file) => file.kind === kind)!;
  const form = streamForm([{ name: `${kind}_file`, path }]);
  const { asset_id } = await api.upload<{ asset_id: string }>(`${index}/${kind}`, form);
  for (;;) {
    const { state } = await api.get<{ state: string }>(`${index}/${kind}/${asset_id}`);
    if (state === "ready" || state === "failed") return asset_id;
    await new Promise((done) => setTimeout(done, 200));
  }
}

export const suite: Suite = {
  summary: "made-up requests to every operation: does any answer break the contract?",
  async run(options) {
    const { log, requests, seed, signal } = options;
    const text = await readFile(join(PROJECT, "openapi.json"), "utf8");
    return withService(options, async (service) => {
      const ask = askerOf(service, signal);
      const ids = await makeWorld(ask, (index, kind) => add(service, index, kind));
      log(
        `${requests} requests of seed ${seed}: --requests ${requests} --seed ${seed} sends them again`,
      );
      const { tallies, problems } = await barrage(
        {
          document: JSON.parse(text) as OpenApi,
          ids,
          origin: service.url,
          send: ({ method, path, headers, body }, late) =>
            fetch(new URL(path, service.url), {
              method,
              headers: { "x-api-key": service.key, ...headers },
              ...(body !== null && { body: typeof body === "string" ? body : new Blob([body]) }),
              signal: AbortSignal.any([late, signal]),
              redirect: "manual",
            }),
        },
        requests,
        seed,
        AT_ONCE,
      );
      for (const { what, plan } of problems.slice(0, SHOWN)) log(`${what}\n  ${show(plan)}`);
      const unreadable = await findUnreadable(ask);
      for (const what of unreadable) log(`can't be read any more: ${what}`);
      return {
        table: tallies.map(toRow),
        json: {
          seed,
          requests: tallies.reduce((sum, tally) => sum + tally.requests, 0),
          operations: tallies.length,
          problems: problems.length,
          unreadable: unreadable.length,
          slowest_ms: Math.max(...tallies.map(({ slowestMs }) => slowestMs)),
        },
      };
    });
  },
};

function toRow({ operation, requests, statuses, slowestMs }: Tally) {
  const counts = [...statuses].toSorted(([a], [b]) => a - b);
  return {
    operation: `${operation.method} ${operation.path}`,
    requests,
    statuses: counts.map(([status, count]) => `${status}: ${count}`).join(", "),
    "slowest, ms": slowestMs,
  };
}

function show({ body, ...plan }: Problem["plan"]): string {
  const sent = typeof body === "string" ? body : body && Buffer.from(body).toString("latin1");
  return JSON.stringify({ ...plan, body: sent?.slice(0, 2000) });
}
