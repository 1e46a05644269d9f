import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openFile } from "sightline/node";
import { measureResidentMib } from "../../tools/processes.ts";
import { type Service, withService } from "../../tools/service.ts";
import { round, type Suite } from "../../tools/suite.ts";
import { writeShortVideo, writePaddedVideo } from "../large-video.ts";
import { uploadByTus } from "../tus-upload.ts";

const MB = 1_000_000;
const SIZES_MB = [10, 100, 300, 1000];

/** Uploads the video at `path` to the index `large`. */
const METHODS: Record<string, (service: Service, path: string) => Promise<unknown>> = {
  multipart: async ({ sightline }, path) => {
    const video = { video_file: await openFile(path), resumable: false };
    return sightline.index("large").videos.add(video);
  },
  tus: async ({ url, key }, path) =>
    uploadByTus(await readFile(path), `${url}/index/large/uploads`, key),
};

export const suite: Suite = {
  summary:
    "MB/s and peak memory of the Workers runtime, for uploads in one request and by tus (Linux)",
  async run(options) {
    const folder = await mkdtemp(join(tmpdir(), "sightline-uploads-"));
    try {
      const video = await writeShortVideo(folder);
      const path = join(folder, "large.mp4");
      const table: Record<string, string | number>[] = [];
      for (const megabytes of SIZES_MB) {
        await writePaddedVideo(video, path, megabytes * MB);
        for (const [method, send] of Object.entries(METHODS)) {
          const row = await withService(options, async (service) => {
            await service.sightline.indices.create({ index_name: "large" });
            const before = await measurePeakMib();
            const startedAt = performance.now();
            await send(service, path);
            const seconds = (performance.now() - startedAt) / 1000;
            const [mb_per_second, mib] = [round(megabytes / seconds, 1), await measurePeakMib()];
            return { seconds: round(seconds, 1), mb_per_second, mib_before: before, peak_mib: mib };
          });
          table.push({ megabytes, method, ...row });
          options.log(`${megabytes} MB by ${method}: ${row.seconds} s, ${row.peak_mib} MiB`);
        }
      }
      return { table, json: { uploads: table } };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function measurePeakMib(): Promise<number> {
  return Math.round(Math.max(...(await measureResidentMib("workerd", "peak")).values()));
}
