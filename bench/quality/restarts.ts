import { setTimeout as wait } from "node:timers/promises";
import { type AddedAsset, type Api } from "../../scripts/demo/api-client.ts";
import { streamForm } from "../../scripts/demo/streamed-form.ts";
import { buildSamplePack, type SamplePack } from "../../scripts/sample/pack.ts";
import { samplePackFolder } from "../../scripts/stack/local-state.ts";
import { withRestarts } from "../restarting.ts";
import type { Suite } from "../suite.ts";

const STOPS = 5;
const STOP_AFTER_MS = [400, 2500];
const GIVE_UP_MS = 5 * 60_000;

interface Listed {
  assets: { state: string; segments: number }[];
  index: { counts: { segments: number } };
}

async function upload(api: Api, { files }: SamplePack): Promise<void> {
  await api.post("/index", { index_name: "pack" });
  for (const { path, kind, transcript } of files) {
    const parts = [{ name: `${kind}_file`, path }];
    if (transcript) parts.push({ name: "transcript", path: transcript });
    await api.upload<AddedAsset>(`/index/pack/${kind}`, streamForm(parts));
  }
}

/** Waits until no asset is under way; how long that took, in seconds. */
async function settle(api: Api): Promise<{ listed: Listed; seconds: number }> {
  const start = Date.now();
  for (;;) {
    const listed = await api.get<Listed>("/index/pack?limit=100");
    const seconds = (Date.now() - start) / 1000;
    if (listed.assets.every(({ state }) => ["ready", "failed"].includes(state))) {
      return { listed, seconds: Math.round(seconds) };
    }
    if (Date.now() - start > GIVE_UP_MS) throw new Error("Some assets never ended.");
    await wait(500);
  }
}

/** How many of the pack's searches have the expected first hit. */
async function countHits(api: Api, { searches }: SamplePack): Promise<number> {
  const firsts = await Promise.all(
    searches.map(async ({ query, expect }) => {
      const { segments } = await api.post<{ segments: { title: string }[] }>("/index/pack/search", {
        query,
      });
      return segments[0]?.title === expect;
    }),
  );
  return firsts.filter(Boolean).length;
}

export const suite: Suite = {
  summary: `the sample pack's ingest with the service stopped ${STOPS} times in the middle: is anything lost?`,
  async run(options) {
    const pack = await buildSamplePack(samplePackFolder());
    return withRestarts(options, async (start) => {
      let service = await start();
      try {
        await upload(service.api, pack);
        for (let i = 0; i < STOPS; i++) {
          const [least, most] = STOP_AFTER_MS as [number, number];
          await wait(least + ((most - least) * i) / STOPS);
          await service.stop();
          service = await start();
        }
        const { listed, seconds } = await settle(service.api);
        const ready = listed.assets.filter(({ state }) => state === "ready").length;
        const segments = listed.assets.reduce((sum, asset) => sum + asset.segments, 0);
        const json = {
          stops: STOPS,
          files: pack.files.length,
          assets: listed.assets.length,
          ready,
          segments,
          counted_segments: listed.index.counts.segments,
          searches: pack.searches.length,
          first_hits: await countHits(service.api, pack),
          seconds_after_last_start: seconds,
        };
        return { table: [json], json };
      } finally {
        await service.stop();
      }
    });
  },
};
