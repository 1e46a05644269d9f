import { buildSamplePack } from "../../scripts/sample/pack.ts";
import { samplePackFolder } from "../../scripts/stack/local-state.ts";
import { withService } from "../service.ts";
import { quantile, round, type Suite } from "../suite.ts";

const ROUNDS = 40;

export const suite: Suite = {
  summary:
    "milliseconds of a search over HTTP, on the demo's index: queries that are new, and known",
  async run(options) {
    const pack = await buildSamplePack(samplePackFolder());
    return withService(options, async ({ api, ingest }) => {
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
      const json = { new: spread(fresh), known: spread(known) };
      const table = Object.entries(json).map(([queries, row]) => Object.assign({ queries }, row));
      return { table, json };
    });
  },
};

function spread(times: number[]) {
  const at = (share: number) => round(quantile(times, share), 1);
  return { searches: times.length, p50_ms: at(0.5), p95_ms: at(0.95), p99_ms: at(0.99) };
}
