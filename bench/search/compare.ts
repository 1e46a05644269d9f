import * as z from "zod";
import { listOpenPorts, measureResidentMib } from "../../tools/processes.ts";
import type { Service } from "../../tools/service.ts";
import { ProcessSupervisor } from "../../tools/stack/child.ts";
import { round, type SuiteOptions } from "../../tools/suite.ts";
import { installBaselines, startBaseline } from "./baseline-process.ts";
import { batchesOf, loadTextMaterial, type CorpusMaterial } from "./corpus-vectors.ts";
import { type CorpusQuery, makeQueries } from "./corpus.ts";
import { type SearchFigures, meanNdcg, toParts, toPercentiles } from "./figures.ts";
import { measureThroughput, interleaveQueries } from "./interleave.ts";
import { checkVectors, loadBatch } from "./load-batch.ts";
import { type SearchSystem, timeSearch } from "./systems.ts";

export const OURS = "Sightline";
/** A route that does nothing: it takes the time of the runtime itself. */
export const EMPTY_ROUTE = "Empty route";
const INDEX = "corpus";
const TOP_K = 10;
const QUERIES = 200;
const WARM_UP = 20;
const LOAD = { concurrency: 8, ms: 5000 };
/** Corpus size from which LanceDB is also queried with its vector index. */
const APPROXIMATE_FROM = 50_000;
/** Largest corpus for Orama; beyond, it would take longer than all others together. */
const ORAMA_UP_TO = 50_000;

/** Compares our service with the baselines on the same growing corpus in one run. Sizes ascend. */
export async function compareSystems(
  service: Service,
  options: SuiteOptions,
): Promise<SearchFigures[]> {
  const material = await loadTextMaterial(options);
  const packages = await installBaselines(options);
  const supervisor = new ProcessSupervisor();
  try {
    const settings = { packages, supervisor, topK: TOP_K };
    const lance = await startBaseline("lancedb", service, settings);
    const orama = await startBaseline("orama", service, settings);
    await service.sightline.indices.create({ index_name: INDEX });
    const url = await runtimeUrl(service);
    const ourSystem = toOurSystem(url, service);
    const figures: SearchFigures[] = [];
    let loadedCount = 0;
    for (const [roundNumber, size] of options.sizes.entries()) {
      const start = performance.now();
      const baselines = size <= ORAMA_UP_TO ? [lance, orama] : [lance];
      for (const batch of batchesOf(material, loadedCount, size)) {
        options.signal.throwIfAborted();
        await loadBatch(service, INDEX, batch);
        for (const baseline of baselines) await baseline.add(batch);
      }
      await lance.prepare();
      options.log(`${size} segments are in after ${Math.round(performance.now() - start)} ms`);
      const systems = [
        ourSystem,
        toEmptyRoute(url),
        lance.toSearchSystem("LanceDB", false),
        ...(size < APPROXIMATE_FROM ? [] : [lance.toSearchSystem("LanceDB, IVF-PQ", true)]),
        ...(baselines.includes(orama) ? [orama.toSearchSystem("Orama", false)] : []),
      ];
      const queries = drawQueries(material, size, roundNumber);
      await checkVectors(service, INDEX, queries.warmUp[0]!.text);
      const measured = await measure(systems, size, queries, options.signal);
      for (const { name, uncached, cached, ndcg10 } of measured) {
        options.log(
          `${name}: new ${uncached.p50} ms, repeated ${cached.p50} ms, nDCG@10 ${ndcg10}`,
        );
      }
      figures.push(...measured);
      loadedCount = size;
    }
    return figures;
  } finally {
    await supervisor.stopAll();
  }
}

interface Queries {
  warmUp: CorpusQuery[];
  evaluated: CorpusQuery[];
}

/** Draws other queries in each round, so that each is new when it first runs. */
function drawQueries({ photos }: CorpusMaterial, size: number, roundNumber: number): Queries {
  const all = makeQueries(photos, size);
  const each = Math.min(QUERIES + WARM_UP, Math.floor(all.length / 3));
  const drawn = all.filter((_, at) => at % 3 === roundNumber % 3).slice(0, each);
  return { warmUp: drawn.slice(0, WARM_UP), evaluated: drawn.slice(WARM_UP) };
}

async function measure(
  systems: readonly SearchSystem[],
  segments: number,
  { warmUp, evaluated }: Queries,
  signal: AbortSignal,
): Promise<SearchFigures[]> {
  const textsOf = (queries: CorpusQuery[]) => queries.map(({ text }) => text);
  const texts = textsOf(evaluated);
  await interleaveQueries(systems, textsOf(warmUp), signal);
  const uncachedResults = await interleaveQueries(systems, texts, signal);
  const cachedResults = await interleaveQueries(systems, texts, signal);
  const perSecond = new Map<string, number>();
  for (const system of systems) {
    perSecond.set(system.name, await measureThroughput(system, texts, { ...LOAD, signal }));
  }
  return Promise.all(
    systems.map(async ({ name, processName }): Promise<SearchFigures> => {
      const [uncachedSearches = [], cachedSearches = []] = [
        uncachedResults.get(name),
        cachedResults.get(name),
      ];
      return {
        segments,
        name,
        uncached: toPercentiles(uncachedSearches),
        cached: toPercentiles(cachedSearches),
        perSecond: round(perSecond.get(name) ?? 0, 1),
        ndcg10: meanNdcg(uncachedSearches, evaluated),
        parts: toParts(cachedSearches),
        uncachedParts: toParts(uncachedSearches),
        mib: Math.round(Math.max(0, ...(await measureResidentMib(processName)).values())),
      };
    }),
  );
}

/** Our service without image embeddings, since the baselines have none. */
function toOurSystem(url: string, { key }: Service): SearchSystem {
  return {
    name: OURS,
    processName: "workerd",
    search: (query) =>
      timeSearch(
        `${url}/index/${INDEX}/search?images=no`,
        { "x-api-key": key },
        { query, top_k: TOP_K },
        readOurs,
      ),
  };
}

function toEmptyRoute(url: string): SearchSystem {
  return {
    name: EMPTY_ROUTE,
    processName: "workerd",
    search: (query) => timeSearch(`${url}/empty`, {}, { query }, () => []),
  };
}

/**
 * Returns the address of the Workers runtime, to bypass Wrangler's development proxy. Linux only;
 * elsewhere returns the proxy.
 */
async function runtimeUrl({ url }: Service): Promise<string> {
  for (const port of await listOpenPorts("workerd")) {
    const runtimeOrigin = `http://127.0.0.1:${port}`;
    const health = await fetch(`${runtimeOrigin}/health`, { signal: AbortSignal.timeout(5000) })
      .then((response) => response.json())
      .catch(() => null);
    const isOurs = z.object({ service: z.literal("sightline") }).safeParse(health).success;
    if (isOurs && runtimeOrigin !== url) return runtimeOrigin;
  }
  return url;
}

function readOurs(json: string): string[] {
  const { segments }: { segments: { segment_id: string }[] } = JSON.parse(json);
  return segments.map(({ segment_id }) => segment_id);
}
