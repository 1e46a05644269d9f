import { copyFile, mkdtemp, open, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeFilm } from "../../scripts/sample/film.ts";
import { drawWords } from "../../scripts/sample/words-picture.ts";
import { residentMemory } from "../processes.ts";
import { withService } from "../service.ts";
import { round, type Suite } from "../suite.ts";

const SIZES_MB = [1, 250, 500, 1000, 1500];
const LOOK_MS = 100;

/** A playable MP4 of `bytes` bytes: a short film, and behind it a box to be skipped (ISO 14496-12, `free`). */
async function makeLarge(film: string, file: string, bytes: number): Promise<void> {
  await copyFile(film, file);
  const { size } = await stat(film);
  const box = Buffer.alloc(8);
  box.writeUInt32BE(bytes - size);
  box.write("free", 4);
  const handle = await open(file, "r+");
  await handle.write(box, 0, 8, size);
  await handle.truncate(bytes);
  await handle.close();
}

export const suite: Suite = {
  summary: "most memory of the Worker's processes while files of growing size are uploaded (Linux)",
  async run(options) {
    const folder = await mkdtemp(join(tmpdir(), "sightline-upload-"));
    try {
      const film = join(folder, "film.mp4");
      const picture = await drawWords(["LARGE"], { width: 320, height: 180 });
      await encodeFilm(film, [{ picture, seconds: 3 }], { width: 320, height: 180, fps: 10 });
      return await withService(options, async ({ ingest }) => {
        const table: Record<string, number>[] = [];
        for (const megabytes of SIZES_MB) {
          const path = join(folder, "large.mp4");
          await makeLarge(film, path, megabytes * 1_000_000);
          let most = 0;
          const look = async () => {
            most = Math.max(most, ...(await residentMemory("workerd")).values());
          };
          const timer = setInterval(() => void look(), LOOK_MS);
          const start = performance.now();
          const [ended] = await ingest(`mb-${megabytes}`, [{ path, kind: "video" }]);
          clearInterval(timer);
          await rm(path);
          if (ended?.state !== "ready") throw new Error(`${megabytes} MB: ${ended?.message}`);
          const seconds = round((performance.now() - start) / 1000, 1);
          table.push({ megabytes, seconds, most_mib: Math.round(most) });
        }
        return { table, json: { uploads: table } };
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
