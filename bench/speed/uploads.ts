import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { streamForm } from "../../scripts/demo/streamed-form.ts";
import { makeFilm, makeLarge } from "../large-film.ts";
import { residentMemory } from "../processes.ts";
import { type Service, withService } from "../service.ts";
import { round, type Suite } from "../suite.ts";
import { sendByTus } from "../tus-upload.ts";

const MB = 1_000_000;
const SIZES_MB = [10, 100, 300, 1000];

/** Sends the film at `path` to the index `large`. */
const WAYS: Record<string, (service: Service, path: string) => Promise<unknown>> = {
  multipart: ({ api }, path) =>
    api.upload("/index/large/video", streamForm([{ name: "video_file", path }])),
  tus: async ({ url, key }, path) =>
    sendByTus(await readFile(path), `${url}/index/large/uploads`, key),
};

export const suite: Suite = {
  summary:
    "MB/s and most memory of the Worker's runtime, for an upload in one request and a resumable one (Linux)",
  async run(options) {
    const folder = await mkdtemp(join(tmpdir(), "sightline-uploads-"));
    try {
      const film = await makeFilm(folder);
      const path = join(folder, "large.mp4");
      const table: Record<string, string | number>[] = [];
      for (const megabytes of SIZES_MB) {
        await makeLarge(film, path, megabytes * MB);
        for (const [way, send] of Object.entries(WAYS)) {
          const row = await withService(options, async (service) => {
            await service.api.post("/index", { index_name: "large" });
            const before = await mostMemory();
            const begun = performance.now();
            await send(service, path);
            const seconds = (performance.now() - begun) / 1000;
            const [mb_per_second, mib] = [round(megabytes / seconds, 1), await mostMemory()];
            return { seconds: round(seconds, 1), mb_per_second, mib_before: before, most_mib: mib };
          });
          table.push({ megabytes, way, ...row });
          options.log(`${megabytes} MB by ${way}: ${row.seconds} s, ${row.most_mib} MiB`);
        }
      }
      return { table, json: { uploads: table } };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function mostMemory(): Promise<number> {
  return Math.round(Math.max(...(await residentMemory("workerd", "at most")).values()));
}
