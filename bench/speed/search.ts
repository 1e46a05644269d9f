import { buildSamplePack } from "../../tools/sample/pack.ts";
import { type Service, withService } from "../../tools/service.ts";
import { quantile, round, type Suite } from "../../tools/suite.ts";
import { compareSystems, EMPTY_ROUTE, OURS } from "../search/compare.ts";
import { type SearchFigures, type LatencyPercentiles, toRatios } from "../search/figures.ts";
import { LOADING_WORKER } from "../search/load-batch.ts";

const ROUNDS = 40;

export const suite: Suite = {
  summary:
    "latency of searches over HTTP, new and repeated queries: on the sample pack, and next to " +
    "LanceDB and Orama on --sizes segments of <DIR>/photos",
  run: (options) =>
    withService(
      options,
      async (service) => {
        const demo = await measureDemo(service);
        const figures = await compareSystems(service, options);
        const ratios = toRatios(figures, OURS, EMPTY_ROUTE);
        const table = [...demo.map(toDemoRow), ...figures.map(toRow)];
        return { table, json: { demo, figures, ratios } };
      },
      { entry: LOADING_WORKER },
    ),
};

interface DemoFigures {
  queries: "new" | "repeated";
  searches: number;
  percentiles: LatencyPercentiles;
}

/** Measures the searches of the sample pack. */
async function measureDemo({ sightline, ingest }: Service): Promise<DemoFigures[]> {
  const pack = await buildSamplePack();
  await ingest("demo", pack.files);
  const search = async (query: string) => {
    const start = performance.now();
    await sightline.index("demo").search(query);
    return performance.now() - start;
  };
  for (const { query } of pack.searches) await search(query); // warm-up
  const [uncached, cached]: [number[], number[]] = [[], []];
  for (let i = 0; i < ROUNDS; i++) {
    for (const { query } of pack.searches) {
      uncached.push(await search(`${query} ${i}`));
      cached.push(await search(query));
    }
  }
  const toDemoFigures = (queries: "new" | "repeated", times: number[]): DemoFigures => {
    const at = (share: number) => round(quantile(times, share), 1);
    const percentiles = { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
    return { queries, searches: times.length, percentiles };
  };
  return [toDemoFigures("new", uncached), toDemoFigures("repeated", cached)];
}

function toDemoRow({ queries, percentiles }: DemoFigures) {
  return { segments: "demo", name: OURS, [queries]: formatPercentiles(percentiles) };
}

function toRow({ segments, name, uncached, cached, perSecond, ndcg10, mib, parts }: SearchFigures) {
  return {
    segments,
    name,
    new: formatPercentiles(uncached),
    repeated: formatPercentiles(cached),
    per_second: perSecond,
    "nDCG@10": ndcg10,
    MiB: mib,
    parts: Object.entries(parts)
      .map(([part, ms]) => `${part} ${ms}`)
      .join(", "),
  };
}

function formatPercentiles({ p50, p95, p99 }: LatencyPercentiles): string {
  return `${p50} / ${p95} / ${p99}`;
}
