import { setTimeout as wait } from "node:timers/promises";
import type { Api, AssetRecord } from "../../tools/api-client.ts";
import { startPhotoServer } from "../photo-server.ts";
import { withRestarts } from "../service-restarts.ts";
import type { Suite } from "../../tools/suite.ts";

const PHOTOS = 60;
const STOPS = 20;
const MAX_STOP_DELAY_MS = 2500; // maximum; the delay is random
const CRON_MS = 1000; // instead of a minute, so that due retries come sooner
const TIMEOUT_MS = 10 * 60_000;

interface Job {
  state: string;
  error: { message: string } | null;
  result: { items: { platform_id: string; outcome: string; image_id: string | null }[] } | null;
}

interface AssetPage {
  assets: AssetRecord[];
  next_cursor: string | null;
}

async function listAssets(api: Api): Promise<AssetRecord[]> {
  const assets: AssetRecord[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const page: AssetPage = await api.get(`/index/album?limit=100${cursor && `&cursor=${cursor}`}`);
    assets.push(...page.assets);
    cursor = page.next_cursor;
  }
  return assets;
}

/** Waits until the import and all assets that it created have ended. */
async function waitUntilSettled(
  api: Api,
  jobId: string,
): Promise<{ job: Job; assets: AssetRecord[] }> {
  for (const start = Date.now(); Date.now() - start < TIMEOUT_MS; await wait(CRON_MS)) {
    const job = await api.get<Job>(`/jobs/${jobId}`);
    if (!["succeeded", "failed"].includes(job.state)) continue;
    const assets = await listAssets(api);
    if (assets.every(({ state }) => ["ready", "failed"].includes(state))) return { job, assets };
  }
  throw new Error("The import, or an asset that it created, never ended.");
}

export const suite: Suite = {
  summary: `import of ${PHOTOS} images, ${STOPS} restarts: is each image imported exactly once?`,
  async run(options) {
    const photos = await startPhotoServer(PHOTOS);
    process.env["FETCH_ALLOW"] = photos.host;
    try {
      return await withRestarts(options, async (start) => {
        let service = await start();
        const cron = setInterval(() => service.runScheduled(), CRON_MS);
        try {
          await service.api.post("/index", { index_name: "album" });
          const importJob = await service.api.post<{ job_id: string }>(
            "/index/album/photonet/profile",
            { url: photos.profileUrl, platform: "mastodon", limit: PHOTOS },
          );
          for (let i = 0; i < STOPS; i++) {
            await wait(Math.random() * MAX_STOP_DELAY_MS);
            await service.stop();
            service = await start();
            options.log(`Stopped and started ${i + 1} of ${STOPS} times.`);
          }
          const lastStartAt = Date.now();
          const { job, assets } = await waitUntilSettled(service.api, importJob.job_id);
          const items = job.result?.items ?? [];
          const json = {
            photos: PHOTOS,
            stops: STOPS,
            import: job.error?.message ?? job.state,
            items: items.length,
            distinct_items: new Set(items.map(({ platform_id: id }) => id)).size,
            assets: assets.length,
            distinct_titles: new Set(assets.map(({ title }) => title)).size,
            ready: assets.filter(({ state }) => state === "ready").length,
            downloads: [...photos.downloadCounts.values()].reduce((sum, times) => sum + times, 0),
            seconds_after_last_start: Math.round((Date.now() - lastStartAt) / 1000),
          };
          return { table: [json], json };
        } finally {
          clearInterval(cron);
          await service.stop();
        }
      });
    } finally {
      await photos.close();
    }
  },
};
