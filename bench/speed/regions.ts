import { buildSamplePack } from "../../scripts/sample/pack.ts";
import { samplePackFolder } from "../../scripts/stack/local-state.ts";
import { withService } from "../service.ts";
import { quantile, round, type Suite } from "../suite.ts";

const ROUNDS = 15;

/** `clock` is a label that is stored; what is called ships has to be pointed at. */
const WISHES = {
  "one hit": { query: "clock", top_k: 1 },
  "its stored boxes": { query: "clock", top_k: 1, use_boxes: true },
  "boxes pointed at": { query: "ships", top_k: 1, use_boxes: true },
  "its mask": { query: "clock", top_k: 1, use_masks: true },
  "a page of 20": { query: "clock", top_k: 20 },
  "its boxes": { query: "clock", top_k: 20, use_boxes: true },
  "its boxes and masks": { query: "clock", top_k: 20, use_boxes: true, use_masks: true },
};

interface Found {
  segments: { boxes: object[] | null; mask: object | null }[];
}

export const suite: Suite = {
  summary: "milliseconds that boxes and masks take, of a page of the demo's index",
  run: (options) =>
    withService(options, async ({ api, ingest }) => {
      const pack = await buildSamplePack(samplePackFolder());
      await ingest("demo", pack.files);
      const table = [];
      for (const [what, wish] of Object.entries(WISHES)) {
        const times: number[] = [];
        let segments: Found["segments"] = [];
        for (let i = 0; i <= ROUNDS; i++) {
          const start = performance.now();
          ({ segments } = await api.post<Found>("/index/demo/search", wish));
          if (i > 0) times.push(performance.now() - start); // the first warms up
        }
        table.push({
          what,
          p50: round(quantile(times, 0.5), 0),
          p95: round(quantile(times, 0.95), 0),
          hits: segments.length,
          boxes: segments.reduce((sum, { boxes }) => sum + (boxes?.length ?? 0), 0),
          masks: segments.filter(({ mask }) => mask).length,
        });
      }
      return { table, json: { table } };
    }),
};
