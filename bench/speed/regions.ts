import type { Hit } from "sightline";
import { buildSamplePack } from "../../tools/sample/pack.ts";
import { withService } from "../../tools/service.ts";
import { quantile, round, type Suite } from "../../tools/suite.ts";

const ROUNDS = 15;

/** Requests. `clock` is a stored label; `ships` needs localization. */
const REQUESTS = {
  "one hit": { query: "clock", top_k: 1 },
  "its stored boxes": { query: "clock", top_k: 1, use_boxes: true },
  "localized boxes": { query: "ships", top_k: 1, use_boxes: true },
  "its mask": { query: "clock", top_k: 1, use_masks: true },
  "a page of 20": { query: "clock", top_k: 20 },
  "its boxes": { query: "clock", top_k: 20, use_boxes: true },
  "its boxes and masks": { query: "clock", top_k: 20, use_boxes: true, use_masks: true },
};

export const suite: Suite = {
  summary: "latency of searches with boxes and masks, on the sample pack",
  run: (options) =>
    withService(options, async ({ sightline, ingest }) => {
      const pack = await buildSamplePack();
      await ingest("demo", pack.files);
      const table = [];
      for (const [request, body] of Object.entries(REQUESTS)) {
        const times: number[] = [];
        let segments: Hit[] = [];
        for (let i = 0; i <= ROUNDS; i++) {
          const start = performance.now();
          ({ segments } = await sightline.index("demo").search(body));
          if (i > 0) times.push(performance.now() - start); // the first one is a warm-up
        }
        table.push({
          request,
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
