import { setTimeout as wait } from "node:timers/promises";
import type { Asset, Job, Sightline } from "sightline";
import type { Suite } from "../../tools/suite.ts";
import { startPhotoServer } from "../photo-server.ts";
import { withRestarts } from "../service-restarts.ts";

const PHOTOS = 60;
const STOPS = 20;
const MAX_STOP_DELAY_MS = 2500; // maximum; the delay is random
const CRON_MS = 1000; // instead of a minute, so that due retries come sooner
const TIMEOUT_MS = 10 * 60_000;

/** Result of an import's job. */
interface ImportResult {
  items: { platform_id: string; outcome: string; image_id: string | null }[];
}

async function listAssets(sightline: Sightline): Promise<Asset[]> {
  const assets: Asset[] = [];
  for await (const asset of sightline.index("album").assets({ limit: 100 })) assets.push(asset);
  return assets;
}

/** Waits until the import and all assets that it created have ended. */
async function waitUntilSettled(
  sightline: Sightline,
  jobId: string,
): Promise<{ job: Job; assets: Asset[] }> {
  for (const start = Date.now(); Date.now() - start < TIMEOUT_MS; await wait(CRON_MS)) {
    const job = await sightline.jobs.get(jobId);
    if (!["succeeded", "failed"].includes(job.state)) continue;
    const assets = await listAssets(sightline);
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
          await service.sightline.indices.create({ index_name: "album" });
          const profile = { url: photos.profileUrl, platform: "mastodon", limit: PHOTOS } as const;
          const importJob = await service.sightline.index("album").imports.profile(profile);
          for (let i = 0; i < STOPS; i++) {
            await wait(Math.random() * MAX_STOP_DELAY_MS);
            await service.stop();
            service = await start();
            options.log(`Stopped and started ${i + 1} of ${STOPS} times.`);
          }
          const lastStartAt = Date.now();
          const { job, assets } = await waitUntilSettled(service.sightline, importJob.job_id);
          const { items } = (job.result ?? { items: [] }) as ImportResult;
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
