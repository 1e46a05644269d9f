import { setTimeout as wait } from "node:timers/promises";
import { type AddedAsset, type Api } from "../../tools/api-client.ts";
import { streamForm } from "../../tools/multipart-stream.ts";
import { buildSamplePack, type SamplePack } from "../../tools/sample/pack.ts";
import { samplePackFolder } from "../../tools/stack/local-state.ts";
import { withRestarts } from "../service-restarts.ts";
import type { Suite } from "../../tools/suite.ts";

const STOPS = 5;
const STOP_DELAY_MS = [400, 2500];
const TIMEOUT_MS = 5 * 60_000;

interface IndexPage {
  assets: { state: string; segments: number }[];
  index: { counts: { segments: number } };
}

async function uploadPack(api: Api, { files }: SamplePack): Promise<void> {
  await api.post("/index", { index_name: "pack" });
  for (const { path, kind, transcript } of files) {
    const parts = [{ name: `${kind}_file`, path }];
    if (transcript) parts.push({ name: "transcript", path: transcript });
    await api.upload<AddedAsset>(`/index/pack/${kind}`, streamForm(parts));
  }
}

/** Waits until no asset is being ingested; returns how long that took, in seconds. */
async function waitUntilSettled(api: Api): Promise<{ page: IndexPage; seconds: number }> {
  const start = Date.now();
  for (;;) {
    const page = await api.get<IndexPage>("/index/pack?limit=100");
    const seconds = (Date.now() - start) / 1000;
    if (page.assets.every(({ state }) => ["ready", "failed"].includes(state))) {
      return { page, seconds: Math.round(seconds) };
    }
    if (Date.now() - start > TIMEOUT_MS) throw new Error("Some assets never ended.");
    await wait(500);
  }
}

/** Counts the searches of the pack whose first hit is the expected file. */
async function countHits(api: Api, { searches }: SamplePack): Promise<number> {
  const firsts = await Promise.all(
    searches.map(async ({ query, expectedFile }) => {
      const { segments } = await api.post<{ segments: { title: string }[] }>("/index/pack/search", {
        query,
      });
      return segments[0]?.title === expectedFile;
    }),
  );
  return firsts.filter(Boolean).length;
}

export const suite: Suite = {
  summary: `ingest of the sample pack, ${STOPS} restarts: is anything missing?`,
  async run(options) {
    const pack = await buildSamplePack(samplePackFolder());
    return withRestarts(options, async (start) => {
      let service = await start();
      try {
        await uploadPack(service.api, pack);
        for (let i = 0; i < STOPS; i++) {
          const [minDelayMs, maxDelayMs] = STOP_DELAY_MS as [number, number];
          await wait(minDelayMs + ((maxDelayMs - minDelayMs) * i) / STOPS);
          await service.stop();
          service = await start();
        }
        const { page, seconds } = await waitUntilSettled(service.api);
        const ready = page.assets.filter(({ state }) => state === "ready").length;
        const segments = page.assets.reduce((sum, asset) => sum + asset.segments, 0);
        const json = {
          stops: STOPS,
          files: pack.files.length,
          assets: page.assets.length,
          ready,
          segments,
          counted_segments: page.index.counts.segments,
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
