import { buildSamplePack } from "../../scripts/sample/pack.ts";
import { samplePackFolder } from "../../scripts/stack/local-state.ts";
import { contest, OURS } from "../search/contest.ts";
import { type Figures, type Spread, toRatios } from "../search/figures.ts";
import { type Service, withService } from "../service.ts";
import { quantile, round, type Suite } from "../suite.ts";

const ROUNDS = 40;
const LOADING_WORKER = "bench/search/loading-worker.ts";

export const suite: Suite = {
  summary:
    "milliseconds of a search over HTTP, queries new and known: on the demo's index, and beside LanceDB and Orama on --sizes of <DIR>/photos",
  run: (options) =>
    withService(
      options,
      async (service) => {
        const demo = await measureDemo(service);
        const figures = await contest(service, options);
        const ratios = toRatios(figures, OURS);
        const table = [...demo.map(toDemoRow), ...figures.map(toRow)];
        return { table, json: { demo, figures, ratios } };
      },
      LOADING_WORKER,
    ),
};

interface DemoFigures {
  queries: "new" | "known";
  searches: number;
  spread: Spread;
}

/** What people search for in the sample pack. */
async function measureDemo({ api, ingest }: Service): Promise<DemoFigures[]> {
  const pack = await buildSamplePack(samplePackFolder());
  await ingest("demo", pack.files);
  const search = async (query: string) => {
    const start = performance.now();
    await api.post("/index/demo/search", { query });
    return performance.now() - start;
  };
  for (const { query } of pack.searches) await search(query); // warm-up
  const [fresh, known]: [number[], number[]] = [[], []];
  for (let i = 0; i < ROUNDS; i++) {
    for (const { query } of pack.searches) {
      fresh.push(await search(`${query} ${i}`));
      known.push(await search(query));
    }
  }
  const toFigures = (queries: "new" | "known", times: number[]): DemoFigures => {
    const at = (share: number) => round(quantile(times, share), 1);
    const spread = { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
    return { queries, searches: times.length, spread };
  };
  return [toFigures("new", fresh), toFigures("known", known)];
}

function toDemoRow({ queries, spread }: DemoFigures) {
  return { segments: "demo", name: OURS, [queries]: showSpread(spread) };
}

function toRow({ segments, name, fresh, known, perSecond, ndcg10, mib, parts }: Figures) {
  return {
    segments,
    name,
    new: showSpread(fresh),
    known: showSpread(known),
    per_second: perSecond,
    "nDCG@10": ndcg10,
    MiB: mib,
    parts: Object.entries(parts)
      .map(([part, ms]) => `${part} ${ms}`)
      .join(", "),
  };
}

function showSpread({ p50, p95, p99 }: Spread): string {
  return `${p50} / ${p95} / ${p99}`;
}
