import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import { startPhotoServer } from "../../bench/photo-server.ts";
import { withRestarts } from "../../bench/service-restarts.ts";

const PHOTOS = 25;

interface Job {
  state: string;
  result: { items: { platform_id: string }[] };
}

it("an import resumes by the cron trigger after a restart and imports each item once", async () => {
  const photos = await startPhotoServer(PHOTOS);
  process.env["FETCH_ALLOW"] = photos.host;
  const options = { log: () => {}, signal: new AbortController().signal };
  try {
    await withRestarts(options, async (start) => {
      let service = await start();
      try {
        await service.api.post("/index", { index_name: "album" });
        const { job_id } = await service.api.post<{ job_id: string }>(
          "/index/album/photonet/profile",
          { url: photos.profileUrl },
        );
        await service.stop();
        service = await start();
        const read = () => service.api.get<Job>(`/jobs/${job_id}`);
        let job = await read();
        while (job.state !== "succeeded") {
          service.runScheduled();
          await wait(1000);
          job = await read();
        }
        const ids = job.result.items.map(({ platform_id: id }) => id);
        expect(new Set(ids).size).toBe(PHOTOS);
        expect(ids).toHaveLength(PHOTOS);
      } finally {
        await service.stop();
      }
    });
  } finally {
    await photos.close();
  }
}, 240_000);
