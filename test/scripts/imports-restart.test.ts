import { setTimeout as wait } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { startPhotoServer } from "../../bench/photo-server.ts";
import { withRestarts } from "../../bench/service-restarts.ts";

const PHOTOS = 25;

/** Result of an import's job. */
interface ImportResult {
  items: { platform_id: string }[];
}

it("an import resumes by the cron trigger after a restart and imports each item once", async () => {
  const photos = await startPhotoServer(PHOTOS);
  vi.stubEnv("FETCH_ALLOW", photos.host);
  const options = { log: () => {}, signal: new AbortController().signal };
  try {
    await withRestarts(options, async (start) => {
      let service = await start();
      try {
        await service.sightline.indices.create({ index_name: "album" });
        const profile = { url: photos.profileUrl };
        const { job_id } = await service.sightline.index("album").imports.profile(profile);
        await service.stop();
        service = await start();
        const read = () => service.sightline.jobs.get(job_id);
        let job = await read();
        while (job.state !== "succeeded") {
          service.runScheduled();
          await wait(1000);
          job = await read();
        }
        const { items } = job.result as ImportResult;
        const ids = items.map(({ platform_id: id }) => id);
        expect(new Set(ids).size).toBe(PHOTOS);
        expect(ids).toHaveLength(PHOTOS);
      } finally {
        await service.stop();
      }
    });
  } finally {
    await photos.close();
  }
});
