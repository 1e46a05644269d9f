import { setTimeout as wait } from "node:timers/promises";
import type { Api, AssetRecord } from "../../scripts/demo/api-client.ts";
import { tick } from "../../scripts/stack/stack.ts";
import { startPhotoServer } from "../photo-server.ts";
import { withRestarts } from "../restarting.ts";
import type { Suite } from "../suite.ts";

const PHOTOS = 60;
const STOPS = 20;
const STOP_AFTER_MS = 2500; // at most, and at random
const TICK_MS = 1000; // in place of a minute: what is due shows sooner
const GIVE_UP_MS = 10 * 60_000;

interface Job {
  state: string;
  error: { message: string } | null;
  result: { items: { platform_id: string; outcome: string; image_id: string | null }[] } | null;
}

interface Listed {
  assets: AssetRecord[];
  next_cursor: string | null;
}

async function listAll(api: Api): Promise<AssetRecord[]> {
  const assets: AssetRecord[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const page: Listed = await api.get(`/index/album?limit=100${cursor && `&cursor=${cursor}`}`);
    assets.push(...page.assets);
    cursor = page.next_cursor;
  }
  return assets;
}

/** Waits until the import and all that it brought have ended. */
async function settle(api: Api, jobId: string): Promise<{ job: Job; assets: AssetRecord[] }> {
  for (const start = Date.now(); Date.now() - start < GIVE_UP_MS; await wait(TICK_MS)) {
    const job = await api.get<Job>(`/jobs/${jobId}`);
    if (!["succeeded", "failed"].includes(job.state)) continue;
    const assets = await listAll(api);
    if (assets.every(({ state }) => ["ready", "failed"].includes(state))) return { job, assets };
  }
  throw new Error("The import, or something that it brought, never ended.");
}

export const suite: Suite = {
  summary: `an import of ${PHOTOS} pictures with the service stopped ${STOPS} times in the middle: does each come once?`,
  async run(options) {
    const photos = await startPhotoServer(PHOTOS);
    process.env["FETCH_ALLOW"] = photos.host;
    try {
      return await withRestarts(options, async (start) => {
        let service = await start();
        const ticking = setInterval(() => void tick(service.url), TICK_MS);
        try {
          await service.api.post("/index", { index_name: "album" });
          const begun = await service.api.post<{ job_id: string }>(
            "/index/album/photonet/profile",
            { url: photos.profileUrl, platform: "mastodon", limit: PHOTOS },
          );
          for (let i = 0; i < STOPS; i++) {
            await wait(Math.random() * STOP_AFTER_MS);
            await service.stop();
            service = await start();
            options.log(`Stopped and started ${i + 1} of ${STOPS} times.`);
          }
          const since = Date.now();
          const { job, assets } = await settle(service.api, begun.job_id);
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
            downloads: [...photos.fetched.values()].reduce((sum, times) => sum + times, 0),
            seconds_after_last_start: Math.round((Date.now() - since) / 1000),
          };
          return { table: [json], json };
        } finally {
          clearInterval(ticking);
          await service.stop();
        }
      });
    } finally {
      await photos.close();
    }
  },
};
